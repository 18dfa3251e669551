"""The paper's tables and figures, made by its own protocol. Outside the wheel: run from a checkout,
`bezierflow reproduce`."""

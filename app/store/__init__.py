"""All SQL of the service, one module per table family; every function takes the transaction first."""

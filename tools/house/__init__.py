"""The rules of the house as functions: each takes the Tree and the Architecture and yields Findings."""

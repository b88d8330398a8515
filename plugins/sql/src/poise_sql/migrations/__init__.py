"""The steps that make and change the tables, run when a database is opened."""

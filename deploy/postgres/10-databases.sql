-- First start of an empty PostgreSQL volume: one role per duty, three databases, nobody a guest in another's database.
-- On a server that you run yourself, do the same by hand (docs/operate/install.md#a-postgresql-of-your-own).
-- psql reads the passwords from the mounted secrets itself, so that they appear in no process list and no environment.
\set ON_ERROR_STOP on
\set owner_password `cat /run/secrets/owner_db_password`
\set app_password `cat /run/secrets/app_db_password`
\set temporal_password `cat /run/secrets/temporal_db_password`

-- A missing or short secret ends the start here: division by zero.
SELECT 1 / (least(length(:'owner_password'), length(:'app_password'), length(:'temporal_password')) >= 24)::int AS secrets_present;

CREATE ROLE assent_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE assent_app LOGIN PASSWORD :'app_password';
CREATE ROLE temporal LOGIN PASSWORD :'temporal_password';

CREATE DATABASE assent OWNER assent_owner;
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;

REVOKE ALL ON DATABASE postgres FROM PUBLIC;
REVOKE ALL ON DATABASE assent FROM PUBLIC;
REVOKE ALL ON DATABASE temporal FROM PUBLIC;
REVOKE ALL ON DATABASE temporal_visibility FROM PUBLIC;
GRANT CONNECT ON DATABASE assent TO assent_app;

-- Migrations run as the owner; the service may read and write rows but not change a table, drop a trigger or grant
-- itself a right. What even the service must not do (change an audit row) is revoked again by the migration of that table.
\connect assent
ALTER DEFAULT PRIVILEGES FOR ROLE assent_owner IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO assent_app;
ALTER DEFAULT PRIVILEGES FOR ROLE assent_owner IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO assent_app;

import type { Purpose } from '../../platform/crypto/encryption.js';

type Row = Record<string, unknown>;

/** A column encrypted under a master key; key rotation must find every one. */
export interface SealedColumn {
  table: string;
  column: string;
  purpose: Purpose;
  /** The table's primary key. */
  key: readonly [string, ...string[]];
  /** Returns the owner to which the value is bound, exactly as its writer does. */
  owner: (row: Row) => string;
}

const joined =
  (...columns: string[]) =>
  (row: Row): string =>
    columns.map((column) => String(row[column])).join('/');

/** All encrypted columns; test/api/automation/secrets/rotate-keys.test.ts compares them with the database's columns. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'team_secrets',
    column: 'data_key',
    purpose: 'vault',
    key: ['team_id', 'name'],
    owner: joined('team_id', 'name'),
  },
  {
    table: 'integration_connections',
    column: 'data_key',
    purpose: 'vault',
    key: ['user_id', 'provider'],
    owner: joined('user_id', 'provider'),
  },
  {
    table: 'integration_revocations',
    column: 'data_key',
    purpose: 'vault',
    key: ['revocation_id'],
    owner: joined('user_id', 'provider'),
  },
  {
    table: 'integration_requests',
    column: 'sealed_verifier',
    purpose: 'vault',
    key: ['state_hash'],
    owner: joined('user_id', 'provider'),
  },
  { table: 'webhooks', column: 'data_key', purpose: 'vault', key: ['webhook_id'], owner: joined('webhook_id') },
  // After the current one: a rotation of the endpoint's secret moves it here.
  { table: 'webhooks', column: 'previous_data_key', purpose: 'vault', key: ['webhook_id'], owner: joined('webhook_id') },
  { table: 'forge_addresses', column: 'data_key', purpose: 'vault', key: ['binding_id'], owner: joined('binding_id') },
  // After the current one, as above.
  { table: 'forge_addresses', column: 'previous_data_key', purpose: 'vault', key: ['binding_id'], owner: joined('binding_id') },
  { table: 'automation_hooks', column: 'data_key', purpose: 'vault', key: ['automation_id'], owner: joined('automation_id') },
  { table: 'users', column: 'two_factor_secret', purpose: 'two-factor', key: ['user_id'], owner: joined('user_id') },
  { table: 'mails', column: 'sealed_data', purpose: 'mail', key: ['mail_id'], owner: joined('mail_id') },
];

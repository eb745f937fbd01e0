import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { v7 as uuidv7 } from 'uuid';
import { createUser } from '../api/admin/create-user.js';
import { loadConfig } from '../api/core/config.js';
import type { Context } from '../api/core/context.js';
import { DomainError } from '../api/core/errors.js';
import { createLogger } from '../api/core/log.js';
import { openDatabase } from '../db/connection.js';

const USAGE = `The operator's commands:

  npm run admin -- create-user --email ada@example.com --name "Ada Lovelace" [--admin] [--no-login-code]

    Makes an account and prints its password once (or takes the one in ADMIN_USER_PASSWORD).
    --admin           instance administrator
    --no-login-code   signs in without the mailed code of an untrusted device`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    email: { type: 'string' },
    name: { type: 'string' },
    admin: { type: 'boolean', default: false },
    'no-login-code': { type: 'boolean', default: false },
  },
});
if (positionals[0] !== 'create-user' || !values.email || !values.name) {
  console.error(USAGE);
  process.exit(2);
}
const config = loadConfig();
const db = openDatabase({ url: config.DATABASE_URL, poolSize: 2, name: 'assent-admin' });
const requestId = uuidv7();
const ctx: Context = {
  db,
  config,
  log: createLogger(config, 'script'),
  ring: () => undefined,
  actor: { type: 'system', name: 'operator' },
  requestId,
  correlationId: requestId,
  ip: null,
  userAgent: null,
};
const given = process.env['ADMIN_USER_PASSWORD'];
const password = given ?? randomBytes(15).toString('base64url');
try {
  const userId = await createUser(ctx, {
    email: values.email,
    name: values.name,
    password,
    role: values.admin ? 'admin' : 'user',
    loginOtpExempt: values['no-login-code'],
  });
  console.log(`created ${values.email} (${userId})${given ? '' : `, password ${password}`}`);
} catch (error) {
  if (!(error instanceof DomainError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await db.destroy();
}

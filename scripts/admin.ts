import { parseArgs } from 'node:util';
import { loadConfig } from '../api/platform/config.js';
import { serviceContext } from '../api/platform/context.js';
import { DEFAULT_DETAILS, DomainError } from '../api/platform/errors.js';
import { createLogger } from '../api/platform/telemetry/log.js';
import { openDatabase } from '../db/connection.js';
import { explainFailures } from './admin/explain-failures.js';
import { COMMANDS, usage } from './admin/commands.js';

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  email: { type: 'string' },
  name: { type: 'string' },
  admin: { type: 'boolean' },
  'no-login-code': { type: 'boolean' },
  status: { type: 'string' },
  reason: { type: 'string' },
  'reassign-to': { type: 'string' },
  plan: { type: 'string' },
  mb: { type: 'string' },
  'older-than-hours': { type: 'string' },
} as const;

explainFailures(usage());
const { values, positionals } = parseArgs({ allowPositionals: true, strict: true, options: OPTIONS });
const [name = '', about = ''] = positionals;
const command = COMMANDS[name];
if (values.help) {
  console.log(usage());
  process.exit(0);
}
if (!command || (about === '' && !command.alone)) {
  console.error(usage());
  process.exit(2);
}
const config = loadConfig();
const db = openDatabase({ url: config.DATABASE_URL, poolSize: 2, name: 'assent-admin' });
const services = { db, config, log: createLogger(config, 'script'), notifyRelay: () => undefined };
try {
  for (const line of await command.run(serviceContext(services, 'operator'), { about, values })) console.log(line);
} catch (error) {
  if (!(error instanceof DomainError)) throw error;
  console.error(
    error.detail === DEFAULT_DETAILS[error.code] ? error.message : `${error.message}\n${JSON.stringify(error.detail)}`,
  );
  process.exitCode = 1;
} finally {
  await db.destroy();
}

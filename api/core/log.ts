import { AsyncLocalStorage } from 'node:async_hooks';
import { pino, type Logger } from 'pino';
import type { Config } from './config.js';

export type { Logger };

/** What every line written inside a request or an activity carries: its correlation id first of all. */
export const logScope = new AsyncLocalStorage<Record<string, unknown>>();

const SECRET_KEYS = [
  'authorization',
  'cookie',
  'password',
  'token',
  'secret',
  'code',
  'new_password',
  'current_password',
  'device_token',
];

/** The process's logger: JSON lines, secrets removed by key at the top level and one level down. */
export function createLogger(config: Pick<Config, 'LOG_LEVEL' | 'NODE_ENV'>, process: 'api' | 'worker' | 'script'): Logger {
  return pino({
    level: config.LOG_LEVEL,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`]), censor: '[redacted]' },
    mixin: () => logScope.getStore() ?? {},
  });
}

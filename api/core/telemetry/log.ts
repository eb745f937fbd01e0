import { AsyncLocalStorage } from 'node:async_hooks';
import { pino, type DestinationStream, type Logger, type LoggerOptions, stdSerializers } from 'pino';
import type { Config } from '../config.js';
import { LogStream } from './log-stream.js';
import { countDroppedLogLines } from './metrics.js';

export type { Logger };

/**
 * What every line written inside an activity carries: its correlation id first of all. A request has a logger of its own instead:
 * the first `run` makes Node follow every promise of the process, which every request would pay for.
 */
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

/** A SQLSTATE or a system's error name: what an operator looks for first. The codes that people are mailed have six digits. */
const ERROR_CODE = /^([0-9A-Z]{5}|E[A-Z]\w+)$/;
const censor = (value: unknown, path: unknown[]): unknown =>
  path.at(-1) === 'code' && typeof value === 'string' && ERROR_CODE.test(value) ? value : '[redacted]';

/** An error without PostgreSQL's `detail`, which holds the whole row that was refused; objection keeps it on the error inside. */
function errorFields(error: Error): unknown {
  const said: unknown = stdSerializers.err(error);
  if (typeof said !== 'object') return said;
  const { detail: _row, nativeError: _inside, ...fields } = { ...said } as Record<string, unknown>;
  return fields;
}

let stdout: LogStream | undefined;
const openStdout = (): LogStream => (stdout ??= new LogStream(1, countDroppedLogLines));

/**
 * The process's logger: JSON lines to stdout, secrets removed by key at the top level and one level down. Written beside the work
 * and many at a time, at the latest after 200 ms; an exit, also by an uncaught error, writes what is left. Lines that stdout does
 * not take are dropped and counted in `log_lines_dropped_total`.
 */
export function createLogger(
  config: Pick<Config, 'LOG_LEVEL' | 'NODE_ENV'>,
  process: 'api' | 'worker' | 'script',
  destination: DestinationStream = openStdout(),
): Logger {
  const options: LoggerOptions = {
    level: config.LOG_LEVEL,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: errorFields },
    redact: { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`]), censor },
    // A copy: pino lays the line's own fields over what it gets, and they must not stay for the lines that follow.
    mixin: () => ({ ...logScope.getStore() }),
  };
  return pino(options, destination);
}

const lineLogs = new WeakMap<Logger, Logger>();

/** The same logger for lines whose fields are all known to be harmless: they are not searched for secrets, which is most of a line's cost. */
export function withoutRedaction(log: Logger): Logger {
  const known = lineLogs.get(log) ?? log.child({}, { redact: [] });
  lineLogs.set(log, known);
  return known;
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { pino, type DestinationStream, type Logger, type LoggerOptions, stdSerializers } from 'pino';
import type { Config } from '../config.js';
import { LogStream } from './log-stream.js';
import { countDroppedLogLines } from './metrics.js';

export type { Logger };

/**
 * Fields added to every line logged inside an activity, such as its correlation id. Requests use their own logger instead: the
 * first `run` makes Node track every promise of the process, which would slow every request.
 */
export const logScope = new AsyncLocalStorage<Record<string, unknown>>();

/** The correlation id of the activity that works; undefined in the API, whose requests carry their own. */
export function scopeCorrelation(): string | undefined {
  const id = logScope.getStore()?.['correlation_id'];
  return typeof id === 'string' ? id : undefined;
}

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
  'api_key',
  'apiKey',
  'AI_API_KEY',
  // What a model was sent, in the errors of its libraries.
  'requestBodyValues',
  'responseBody',
  'prompt',
];

/** A SQLSTATE or system error name, which operators look for first. Emailed codes have six digits, so they do not match. */
const ERROR_CODE = /^([0-9A-Z]{5}|E[A-Z]\w+)$/;
const censor = (value: unknown, path: unknown[]): unknown =>
  path.at(-1) === 'code' && typeof value === 'string' && ERROR_CODE.test(value) ? value : '[redacted]';

/** Serializes an error without PostgreSQL's `detail`, which holds the whole rejected row; objection keeps it on the inner error. */
function errorFields(error: Error): unknown {
  const said: unknown = stdSerializers.err(error);
  if (typeof said !== 'object') return said;
  const { detail: _row, nativeError: _inside, ...fields } = { ...said } as Record<string, unknown>;
  return fields;
}

let stdout: LogStream | undefined;
const openStdout = (): LogStream => (stdout ??= new LogStream(1, countDroppedLogLines));

/**
 * Creates the process's logger: JSON lines to stdout, secrets redacted by key at the top level and one level down. Lines are
 * written asynchronously in batches, after at most 200 ms; an exit, even by an uncaught error, writes the rest. Dropped lines are
 * counted in `log_lines_dropped_total`.
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
    // A copy, because pino merges the line's own fields into it, and they must not leak into later lines.
    mixin: () => ({ ...logScope.getStore() }),
  };
  return pino(options, destination);
}

const lineLogs = new WeakMap<Logger, Logger>();

/**
 * Returns the logger without redaction, for lines whose fields are all known to be harmless: redaction is most of a line's cost.
 */
export function withoutRedaction(log: Logger): Logger {
  const known = lineLogs.get(log) ?? log.child({}, { redact: [] });
  lineLogs.set(log, known);
  return known;
}

import type { Config } from '../../config.js';
import type { Logger } from '../log.js';
import type { Tracer } from './tracer.js';

/** Starts to export traces if OTEL_EXPORTER_OTLP_ENDPOINT is set. Otherwise loads nothing and returns undefined. */
export async function startTracing(config: Config, process: 'api' | 'worker', log: Logger): Promise<Tracer | undefined> {
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return undefined;
  const { createTracer } = await import('./tracer.js');
  return createTracer(config, process, log);
}

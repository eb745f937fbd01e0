import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from './tracer.js';

/** The span of the activity or delivery that runs; the worker sets it, and only if traces are on. Outbound requests read it. */
export const currentSpan = new AsyncLocalStorage<Span>();

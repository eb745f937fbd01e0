import { Gauge } from 'prom-client';
import { metrics } from './metrics.js';

const streams = new Gauge({ name: 'live_streams', help: 'Open streams of changes', registers: [metrics] });
const held = new Gauge({
  name: 'live_held_seconds',
  help: 'Time for which a transaction that stays open has held back the changes of all streams',
  registers: [metrics],
});

export const setLiveStreams = (count: number): void => streams.set(count);
export const setLiveHeld = (seconds: number): void => held.set(seconds);

import { stored } from '../declare.js';
import { aboutRun, runSample } from './shapes.js';

export const automationEvents = {
  'automation.run_failed': stored({
    payload: aboutRun(),
    past: 'A run of an automation failed',
    webhook: true,
    sample: runSample({ error: { code: 'http_status', message: 'The receiver returned 500' } }),
  }),
  'automation.run_paused': stored({
    payload: aboutRun(),
    past: 'A run of an automation waits for an approval',
    webhook: true,
    sample: runSample({ gate_index: 0 }),
  }),
};

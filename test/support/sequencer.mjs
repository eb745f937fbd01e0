/** The order of test files: those that take longest first, also where jest knows no durations yet, so that none is left alone at the end. */
import Sequencer from '@jest/test-sequencer';

/** Files of half a minute and more on two cores, by the time they take or wait; jest would start small files last. */
const LONG = [
  'outbox/outage',
  'workflows/failures',
  'authorization/automations',
  'outbox/stores',
  'triage/faults',
  'workflows/run-agent-model',
  'providers/workflow',
  'browser/app',
  'hostile/hostile',
  'authorization/accounts',
  'authorization/vault',
  'bulk/import-faults',
  'http/fair-connections',
  'resilience/restarts',
  'definitions/plans',
  'webhooks/crashes',
  'web/web',
  'workflows/decision-kills',
  'cycles/faults',
  'webhooks/receivers',
  'bulk/faults',
  'workflows/recurring-task',
  'runners/daemon',
  'runners/faults',
  'resilience/postgres-gone',
  'web/hostile',
  'agent/turn-faults',
  'workflows/replay',
  'authorization/items',
  'authorization/tasks',
  'authorization/teams',
  'authorization/agent',
  'authorization/approvals',
  'mcp/plans',
];
const rank = ({ path }) => {
  const at = LONG.findIndex((name) => path.replaceAll('\\', '/').endsWith(`/${name}.test.ts`));
  return at < 0 ? LONG.length : at;
};

export default class extends Sequencer {
  async sort(tests) {
    return [...(await super.sort(tests))].sort((a, b) => rank(a) - rank(b));
  }
}

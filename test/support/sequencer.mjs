/** The order of test files: those that take longest first, also where jest knows no durations yet, so that none is left alone at the end. */
import Sequencer from '@jest/test-sequencer';

/** Files of half a minute and more on two cores, by the time they take or wait; jest would start small files last. */
const LONG = [
  'outbox/lost-starts',
  'outbox/outage',
  'workflows/failures',
  'webhooks/crashes',
  'bulk/import-faults',
  'workflows/run-agent-model',
  'providers/workflow',
  'workflows/decision-kills',
  'workflows/run-steps',
  'browser/app',
  'browser/decision-values',
  'outbox/invariants',
  'authorization/fields',
  'definitions/plans',
  'authorization/webhooks',
  'http/fair-connections',
  'triage/faults',
  'runs/shown-is-done',
  'schema/refuse-schema',
  'webhooks/receivers',
  'outbox/stores',
  'authorization/cycles',
  'authorization/items',
  'resilience/postgres-gone',
  'authorization/agent',
  'bulk/faults',
  'outbox/reconcile-backlog',
  'trash/purge',
  'web/web',
  'browser/plans',
  'runners/daemon',
  'scripts/supervisor',
  'authorization/tasks',
  'runners/faults',
  'cycles/faults',
  'agent/turn-faults',
  'workflows/runner-job',
  'audit/tampering',
  'resilience/restarts',
  'authorization/accounts',
  'authorization/teams',
  'authorization/automations',
  'workflows/user-deprovision',
  'workflows/recurring-task',
  'workflows/replay',
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

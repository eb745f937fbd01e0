/** Every workflow type: the export's name is the type's name, so renaming one is a breaking change. */
export { agentPlan } from './agent-plan.js';
export { agentTurn } from './agent-turn.js';
export { automationRun } from './automation-run.js';
export { automationSchedule } from './automation-schedule.js';
export { bulkExport } from './bulk-export.js';
export { bulkImport, bulkUndo } from './bulk-import.js';
export { changeRequest } from './change-request.js';
export { ciTriage } from './ci-triage.js';
export { connectionRevocation } from './connection-revocation.js';
export { cycleClock } from './cycle-clock.js';
export { housekeeping } from './housekeeping.js';
export { overnightTriage } from './overnight-triage.js';
export { recurringTask } from './recurring-task.js';
export { runnerJob } from './runner-job.js';
export { userDeprovision } from './user-deprovision.js';

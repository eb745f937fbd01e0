import { formatStatus, TASK_RESOLUTIONS } from '../rules.js';

/** What is set together with a stage. */
export interface StagedFields {
  status?: unknown;
  resolution?: unknown;
}

/** Says why a stage cannot be set together with a status or a resolution; undefined if it can. Pure. */
export function wordStageMisfit(
  stage: { name: string; status: string },
  { status, resolution }: StagedFields,
): string | undefined {
  const name = `“${stage.name}”`;
  if (TASK_RESOLUTIONS.some((one) => one === resolution))
    return `A task that is closed as ${String(resolution)} is in no stage, but this sets ${name}`;
  if (typeof status !== 'string' || status === stage.status) return undefined;
  return `The stage ${name} belongs to the status ${formatStatus(stage.status)}, but this sets ${formatStatus(status)}`;
}

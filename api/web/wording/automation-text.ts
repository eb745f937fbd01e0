import { GATE, GATE_DEFAULTS, type GateRole } from '../../automation/actions/rules.js';
import { TRIGGERS } from '../../automation/language/triggers.js';
import { scheduleInWords } from '../../automation/definitions/schedule/written-schedule.js';
import type { AutomationRecord } from '../../automation/definitions/schema.js';

const LABELS = new Map(TRIGGERS.map(({ key, label }) => [key, label]));

/** Returns what starts an automation: "A pull request is merged", "On a schedule: every weekday at 9:00 (Europe/Berlin)". */
export function describeTrigger({
  trigger_type,
  schedule_cron,
  schedule_timezone,
}: Pick<AutomationRecord, 'trigger_type' | 'schedule_cron' | 'schedule_timezone'>): string {
  const label = LABELS.get(trigger_type) ?? trigger_type;
  return schedule_cron === null ? label : `${label}: ${scheduleInWords(schedule_cron) ?? schedule_cron} (${schedule_timezone})`;
}

type Action = AutomationRecord['actions'][number];

/** A gate in the words of its parameters. */
export interface GateText {
  role: GateRole;
  approvals: number;
  /** Users behind the run may approve it too. */
  allowsSelf: boolean;
  signedIn: boolean;
  expiresInSeconds: number;
  asksAgain: boolean;
}

/** Returns what a gate requires, with defaults filled in. */
export function readGate(params: Action['params']): GateText {
  return {
    role: (params['role'] as GateRole | undefined) ?? GATE_DEFAULTS.role,
    approvals: (params['required_approvals'] as number | undefined) ?? GATE_DEFAULTS.requiredApprovals,
    allowsSelf: (params['allow_self_approval'] as boolean | undefined) ?? GATE_DEFAULTS.allowSelfApproval,
    signedIn: params['signed_in'] === true,
    expiresInSeconds: (params['expires_in_seconds'] as number | undefined) ?? GATE_DEFAULTS.expiresInSeconds,
    asksAgain: params['if_changed'] === 'ask_again',
  };
}

/** Actions that one gate releases; before the first gate, `gate` is null: nobody approves them. */
export interface Stage {
  gate: GateText | null;
  actions: { type: string; name?: string | undefined }[];
}

/** Splits actions at their gates: who approves what. A first stage without actions is omitted. */
export function splitStages(actions: readonly Action[]): Stage[] {
  const stages: Stage[] = [{ gate: null, actions: [] }];
  for (const { type, name, params } of actions) {
    if (type === GATE) stages.push({ gate: readGate(params), actions: [] });
    else stages.at(-1)?.actions.push({ type, name });
  }
  return stages.filter(({ gate, actions: kept }) => gate !== null || kept.length > 0);
}

import { isSent } from '../../automation/actions/registry.js';
import type { ActionLine, FieldLine } from '../../gate/staging/schema.js';
import { findWorkAction } from './question.js';

type Line = Pick<ActionLine, 'type' | 'risk'> & { fields: readonly Pick<FieldLine, 'name' | 'before'>[] };

/** Why an action is of medium risk, as far as its type says so (api/gate/work-actions/risk.ts); undefined for a change of several fields, which show it. */
function findReason({ type, fields }: Line): string | undefined {
  if (type === 'operation') return 'Assent does not know what it does';
  if (isSent(type)) return 'sent to another service';
  const action = findWorkAction(type);
  if (action?.kind === 'remove') return 'deletes';
  if (action?.tool === 'task.comment') return 'mentions a user';
  if (action?.tool === 'project.update') return 'changes a project';
  const [first, ...others] = fields;
  if (action?.tool === 'task.assign' && first && others.length === 0)
    return first.before === null ? 'gives work to another user' : 'takes work from a user';
  if (action?.tool === 'task.set_status') return first?.before === 'done' ? 'reopens' : undefined;
  if (action?.tool !== 'task.create') return undefined;
  const has = (field: string): boolean => fields.some(({ name }) => name === field);
  const reasons = [has('assigned to') && 'gives work to another user', has('recurrence') && 'repeats'];
  return reasons.filter((reason) => reason !== false).join(', ') || undefined;
}

/** "High risk" needs no reason: it is decided singly. "Medium risk: gives work to another user". */
export function wordRisk(line: Line): string {
  const reason = line.risk === 'medium' ? findReason(line) : undefined;
  return `${line.risk} risk${reason === undefined ? '' : `: ${reason}`}`;
}

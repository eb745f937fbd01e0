import { presentActions } from '../../../gate/staging/present.js';
import { isNoChange } from '../../../gate/staging/try-action.js';
import { DELAY } from '../../actions/rules.js';
import type { StagedStep } from './tail.js';

/** Characters of a value in a reason. */
const MAX_VALUE = 60;

const changesNothing = ({ tool, before, after }: StagedStep): boolean =>
  tool !== null && before !== null && after !== null && isNoChange(tool, { before, after });

/** Says what an update gives its target, such as `priority urgent`: without ids, which only the names of a reader put into words, and without long texts. */
function wordWanted(step: StagedStep): string {
  const wanted = Object.entries(step.params ?? {}).filter(([name, value]) => name !== 'task_id' && value !== step.entity_id);
  const [line] = presentActions([{ ...step, title: '', params: Object.fromEntries(wanted) }], {});
  const said = (line?.fields ?? []).map(({ name, after, kind }) => {
    const value = name === 'status' ? after?.replaceAll('_', ' ') : after;
    return kind === 'text'
      ? `${name} ${Array.from(value ?? 'none')
          .slice(0, MAX_VALUE)
          .join('')}`
      : name;
  });
  return said.length === 0 ? 'changes nothing' : `changes nothing: ${said.join(', ')} as it is`;
}

/** Whether a trial does not tell what an action leaves behind: it waits, is refused, or does what only its performance shows. */
const isOpen = ({ type, tool, refused, skipped }: StagedStep): boolean =>
  skipped === undefined && (type === DELAY || tool === null || refused !== null);

/**
 * Skips the actions that would change nothing: nobody is asked about them, and none of them is performed, whatever their targets are by then. Behind an
 * action that may end in another way than its trial they stay. A skipped one keeps its target, so that its change is seen
 * (docs/decisions/automation.md#actions-that-change-nothing).
 * @param given the actions before they were tried, as the definition words them
 */
export function leaveUnchanged(tried: readonly StagedStep[], given: readonly StagedStep[]): StagedStep[] {
  const open = tried.findIndex(isOpen);
  return tried.map((step, at): StagedStep => {
    if (!changesNothing(step) || (open !== -1 && at > open)) return step;
    const skipped = wordWanted({ ...step, params: given[at]?.params ?? null });
    return { ...step, params: null, before: null, after: null, risk: 'low', skipped };
  });
}

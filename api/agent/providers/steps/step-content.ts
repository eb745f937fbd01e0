import type { ProposedAction } from '../../plans/proposal.js';
import type { Handles, StoredHandles } from '../prompt/handles.js';
import { describeProposal, proposalTool } from '../tools/proposal-tools.js';
import type { CallInput } from '../tools/read-tools.js';

/** A call with its result. The input is `{}` if the model's arguments were no JSON object. */
export interface StoredCall {
  id: string;
  name: string;
  input: CallInput;
  output: unknown;
  /** It counts as a proposal of the plan. */
  isProposed?: true;
}

/** What a model said in one step, as stored in `agent_steps`: never in a history or a log. */
export interface StepContent {
  said: 'more' | 'done';
  text: string;
  calls: StoredCall[];
  /** Handles as of this step. */
  handles: StoredHandles;
  /** Team of the first linked item. */
  teamId: string | null;
  /** Calls that were not read, because the answer had too many or was too long. */
  leftOut: number;
  /** Why the plan was refused, for the model. */
  refusal?: string;
  /** The proposals up to here are void, because the plan was refused. */
  isVoid?: true;
  /** This step told the model what it did wrong; it is told once in a turn. */
  isRepair?: true;
  inputTokens: number;
  outputTokens: number;
}

/** Maximum size of a stored step, bytes of JSON; the column takes 64 kB. */
const MAX_STEP_BYTES = 60_000;

/** Returns a step that fits into its column: calls at the end are left out, then the end of the text. */
export function fitted(content: StepContent): StepContent {
  const kept = { ...content, calls: [...content.calls] };
  while (kept.calls.length > 0 && Buffer.byteLength(JSON.stringify(kept)) > MAX_STEP_BYTES) {
    kept.calls.pop();
    kept.leftOut += 1;
  }
  while (Buffer.byteLength(JSON.stringify(kept)) > MAX_STEP_BYTES && kept.text.length > 0) {
    kept.text = kept.text.slice(0, Math.floor(kept.text.length / 2)).toWellFormed();
  }
  return kept;
}

/** Returns the actions that the steps propose, in order. */
export function listProposals(steps: readonly StepContent[], handles: Handles): ProposedAction[] {
  const from = steps.findLastIndex(({ isVoid }) => isVoid) + 1;
  return steps.slice(from).flatMap(({ calls, teamId }) =>
    calls.flatMap(({ name, input, isProposed }): ProposedAction[] => {
      const tool = isProposed ? proposalTool(name) : undefined;
      return tool ? [describeProposal(tool, input, { handles, teamId })] : [];
    }),
  );
}

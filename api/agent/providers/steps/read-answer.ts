import type { Services } from '../../../platform/context.js';
import { MAX_ACTIONS } from '../../plans/schema.js';
import type { ModelAnswer, ToolCall } from '../call-model.js';
import { Handles } from '../prompt/handles.js';
import { describeProposal, proposalTool } from '../tools/proposal-tools.js';
import { type CallInput, CallRefused, isReadTool, performRead } from '../tools/read-tools.js';
import { proposerContext, readOnly, type TurnReading } from './read-turn.js';
import { listProposals, type StepContent, type StoredCall } from './step-content.js';

/** Reads of one step; each result has up to 8 kB. */
const MAX_READS = 3;

/** Parses the arguments of a call. @throws CallRefused unless they are a JSON object */
function buildInput({ input }: ToolCall): CallInput {
  let parsed: unknown;
  try {
    parsed = input === '' ? {} : JSON.parse(input);
  } catch {
    throw new CallRefused('the arguments are no JSON');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new CallRefused('the arguments are no object');
  return parsed as CallInput;
}

/** Carries out the calls of one answer, in order. */
class Reader {
  private reads = 0;
  readonly calls: StoredCall[] = [];
  hasRead = false;
  isRefused = false;
  leftOut: number;

  constructor(
    private readonly services: Services,
    private readonly reading: TurnReading,
    private readonly handles: Handles,
    private proposals: number,
    leftOut: number,
  ) {
    this.leftOut = leftOut;
  }

  private get teamId(): string | null {
    return this.reading.world.items[0]?.team_id ?? null;
  }

  private async read(name: string, input: CallInput): Promise<unknown> {
    this.hasRead = true;
    this.reads += 1;
    if (this.reads > MAX_READS) throw new CallRefused(`one answer may read ${MAX_READS} times`);
    const { turn } = this.reading;
    const json = await readOnly(this.services, (db) =>
      performRead(proposerContext(this.services, db, turn), turn.session_id, this.handles, name, input),
    );
    return JSON.parse(json) as unknown;
  }

  /** Returns the result for the model; a proposal is counted and nothing else. */
  private async toResult(call: ToolCall, input: CallInput): Promise<Pick<StoredCall, 'output' | 'isProposed'>> {
    if (isReadTool(call.name)) return { output: await this.read(call.name, input) };
    const tool = proposalTool(call.name);
    if (!tool) throw new CallRefused('there is no such tool');
    if (this.proposals >= MAX_ACTIONS) {
      this.leftOut += 1;
      return { output: { refused: `a plan has at most ${MAX_ACTIONS} changes` } };
    }
    describeProposal(tool, input, { handles: this.handles, teamId: this.teamId });
    this.proposals += 1;
    return { output: { proposed: this.proposals - 1 }, isProposed: true };
  }

  async carryOut(call: ToolCall): Promise<void> {
    let input: CallInput = {};
    try {
      input = buildInput(call);
      this.calls.push({ id: call.id, name: call.name, input, ...(await this.toResult(call, input)) });
    } catch (error) {
      if (!(error instanceof CallRefused)) throw error;
      this.isRefused ||= !isReadTool(call.name) || this.reads <= MAX_READS;
      this.calls.push({ id: call.id, name: call.name, input, output: { refused: error.message } });
    }
  }
}

/** Returns the handles as of the last step. */
export const collectHandles = (steps: readonly StepContent[]): Handles => new Handles(steps.at(-1)?.handles);

/**
 * Reads an answer: reading tools are carried out in read-only transactions, proposals are counted, anything else is refused in words of
 * ours. The model goes on if it read something, or made a mistake for the first time in the turn.
 */
export async function readAnswer(
  services: Services,
  reading: TurnReading,
  handles: Handles,
  answer: ModelAnswer,
): Promise<StepContent> {
  const { steps, world } = reading;
  const reader = new Reader(services, reading, handles, listProposals(steps, handles).length, answer.callsLeftOut);
  for (const call of answer.calls) await reader.carryOut(call);
  const canRepair = reader.isRefused && !steps.some(({ isRepair }) => isRepair);
  return {
    said: reader.hasRead || canRepair ? 'more' : 'done',
    text: answer.text,
    calls: reader.calls,
    handles: handles.stored(),
    teamId: world.items[0]?.team_id ?? null,
    leftOut: reader.leftOut,
    ...(canRepair ? { isRepair: true } : {}),
    inputTokens: answer.inputTokens,
    outputTokens: answer.outputTokens,
  };
}

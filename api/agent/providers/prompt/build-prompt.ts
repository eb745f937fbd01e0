import type { LanguageModelV3Message, LanguageModelV3Prompt } from '@ai-sdk/provider';
import { withoutInvisible } from '../../../platform/validation/invisible.js';
import { estimateTokens } from '../call-model.js';
import type { StepContent } from '../steps/step-content.js';
import { dataJson, fenced } from './fence.js';
import { SYSTEM_TEXT } from './system-text.js';

/** A message of the session, as stored. */
export interface HistoryMessage {
  role: 'user' | 'assistant' | 'system';
  content: string;
}

/** Messages before the one that is answered, and the tokens of all of them. */
export const HISTORY_MESSAGES = 10;
const HISTORY_TOKENS = 4_000;

interface PromptParts {
  nonce: string;
  /** Today in the person's time zone, `2026-11-22 (Sunday)`. */
  today: string;
  data: Record<string, unknown>;
  /** Oldest first. */
  history: readonly HistoryMessage[];
  message: string;
  /** What was said in this turn so far. */
  steps: readonly StepContent[];
}

const REFUSED = 'The plan was refused. Propose the whole plan again, or explain why it cannot be done.';

const said = (role: 'user' | 'assistant', text: string): LanguageModelV3Message => ({ role, content: [{ type: 'text', text }] });

/** Returns the newest messages that fit, oldest first. */
function fitting(history: readonly HistoryMessage[]): LanguageModelV3Message[] {
  let left = HISTORY_TOKENS;
  const kept: LanguageModelV3Message[] = [];
  for (const { role, content } of history.slice(-HISTORY_MESSAGES).toReversed()) {
    const text = withoutInvisible(content).trim();
    left -= estimateTokens(text);
    if (left < 0) break;
    if (text !== '' && role !== 'system') kept.unshift(said(role, text));
  }
  return kept;
}

/** Returns the messages of one step: what the model said and called, and the results of the calls. */
function stepMessages({ text, calls, refusal }: StepContent, nonce: string): LanguageModelV3Message[] {
  const spoken = text === '' ? [] : [{ type: 'text' as const, text }];
  const called = calls.map(({ id, name, input }) => ({ type: 'tool-call' as const, toolCallId: id, toolName: name, input }));
  const results = calls.map(({ id, name, output }) => ({
    type: 'tool-result' as const,
    toolCallId: id,
    toolName: name,
    output: { type: 'text' as const, value: fenced(nonce, dataJson(output)) },
  }));
  const messages: LanguageModelV3Message[] = [];
  if (spoken.length + called.length > 0) messages.push({ role: 'assistant', content: [...spoken, ...called] });
  if (results.length > 0) messages.push({ role: 'tool', content: results });
  // A reason may quote a title, so it is data too.
  if (refusal !== undefined) messages.push(said('user', `${REFUSED}\n${fenced(nonce, dataJson({ reason: refusal }))}`));
  return messages;
}

/** Returns the whole prompt. The system text is fixed; whatever people wrote into items stands in a fenced block. */
export function buildPrompt({ nonce, today, data, history, message, steps }: PromptParts): LanguageModelV3Prompt {
  return [
    { role: 'system', content: SYSTEM_TEXT },
    ...fitting(history),
    said('user', `${fenced(nonce, dataJson({ today, ...data }))}\n\n${withoutInvisible(message).trim()}`),
    ...steps.flatMap((step) => stepMessages(step, nonce)),
  ];
}

import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3FunctionTool,
  LanguageModelV3GenerateResult,
  LanguageModelV3Prompt,
} from '@ai-sdk/provider';
import type { Config } from '../../platform/config.js';
import { ANTHROPIC_URL } from '../../platform/settings/model-settings.js';
import { redactSecrets } from '../../platform/http-client/redact-secrets.js';
import { CALL_MS, modelFetch } from './model-fetch.js';
import { toFailure, ModelFailure } from './model-failure.js';

/** One request to a model. */
export interface ModelRequest {
  prompt: LanguageModelV3Prompt;
  tools: LanguageModelV3FunctionTool[];
}

/** A tool that the model calls, with its arguments as it wrote them: text that nobody has checked. */
export interface ToolCall {
  id: string;
  name: string;
  input: string;
}

/** What a model said. */
export interface ModelAnswer {
  text: string;
  calls: ToolCall[];
  /** Calls beyond the limit, which were not read. */
  callsLeftOut: number;
  inputTokens: number;
  outputTokens: number;
}

/** Maximum length of the text of an answer, characters, and of the arguments of one call. */
const MAX_TEXT = 8_000;
const MAX_INPUT = 32_000;
/** Calls that are read of one answer; a plan has at most 50 changes. */
const MAX_CALLS = 60;

/** Estimates tokens as a third of the bytes. */
export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3);

/** Returns the size of a request in bytes of JSON; no text has more tokens than bytes. */
export const requestBytes = ({ prompt, tools }: ModelRequest): number => Buffer.byteLength(JSON.stringify([prompt, tools]));

/**
 * Loads the library of the configured provider, which costs 16 MB, and returns the model.
 * @throws Error if AI_PROVIDER is `rules`
 */
async function openModel(config: Config): Promise<LanguageModelV3> {
  const { AI_PROVIDER, AI_MODEL = '', AI_BASE_URL, AI_API_KEY } = config;
  if (AI_PROVIDER === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ baseURL: AI_BASE_URL ?? ANTHROPIC_URL, apiKey: AI_API_KEY ?? '', fetch: modelFetch })(AI_MODEL);
  }
  if (AI_PROVIDER === 'rules') throw new Error('AI_PROVIDER=rules asks no model');
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const key = AI_API_KEY === undefined ? {} : { apiKey: AI_API_KEY };
  return createOpenAICompatible({ name: AI_PROVIDER, baseURL: AI_BASE_URL ?? '', fetch: modelFetch, ...key })(AI_MODEL);
}

/** Returns a reported number of tokens within its bounds; the estimate if none was reported. */
const clamped = (reported: number | undefined, estimate: number, max: number): number =>
  reported === undefined || !Number.isFinite(reported)
    ? Math.min(estimate, max)
    : Math.min(Math.max(Math.round(reported), 0), max);

/** Returns the beginning of a text, as PostgreSQL and JSON can store it. */
const storable = (text: string, max: number): string => text.slice(0, max).replaceAll('\0', '').toWellFormed();

function toAnswer(config: Config, request: ModelRequest, { content, usage }: LanguageModelV3GenerateResult): ModelAnswer {
  // The model does not know the key, but its provider does.
  const hidden = new Set(config.AI_API_KEY === undefined ? [] : [config.AI_API_KEY]);
  const safe = (words: string, max: number): string => storable(redactSecrets(hidden, words.slice(0, max)), max);
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const said = content.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
  const calls = said.slice(0, MAX_CALLS).map(({ toolCallId, toolName, input }) => ({
    id: safe(String(toolCallId), 200),
    name: safe(String(toolName), 64),
    input: safe(String(input), MAX_INPUT),
  }));
  const bytes = requestBytes(request);
  const spoken = Buffer.byteLength(text) + calls.reduce((sum, { input }) => sum + Buffer.byteLength(input), 0);
  return {
    text: safe(text, MAX_TEXT),
    calls,
    callsLeftOut: said.length - calls.length,
    inputTokens: clamped(usage.inputTokens.total, Math.ceil(bytes / 3), bytes),
    outputTokens: clamped(usage.outputTokens.total, Math.ceil(spoken / 3), config.AI_MAX_OUTPUT_TOKENS),
  };
}

/**
 * Asks the configured model once, at most 45 s. The library retries nothing. Tokens that the provider does not report are estimated, and
 * reported ones are clamped to what the request and its limit allow.
 * @throws ModelFailure, without words of the provider; the reason of `signal` if the caller aborts
 */
export async function callModel(
  config: Config,
  request: ModelRequest,
  signal?: AbortSignal,
  callMs = CALL_MS,
): Promise<ModelAnswer> {
  const options: LanguageModelV3CallOptions = {
    ...request,
    toolChoice: { type: 'auto' },
    maxOutputTokens: config.AI_MAX_OUTPUT_TOKENS,
    temperature: 0,
    abortSignal: AbortSignal.any([AbortSignal.timeout(callMs), ...(signal ? [signal] : [])]),
  };
  const model = await openModel(config);
  try {
    return toAnswer(config, request, await model.doGenerate(options));
  } catch (thrown) {
    if (signal?.aborted) throw signal.reason;
    throw thrown instanceof ModelFailure ? thrown : toFailure(thrown);
  }
}

import ipaddr from 'ipaddr.js';
import { z } from 'zod';

const MODEL_PROVIDERS = ['rules', 'openai_compatible', 'anthropic'] as const;

const whole = (fallback: number, min: number, max: number) => z.coerce.number().int().min(min).max(max).default(fallback);
const amount = () => z.coerce.number().min(0).max(1_000_000).default(0);

/** Address of Anthropic's API, if AI_BASE_URL is absent. */
export const ANTHROPIC_URL = 'https://api.anthropic.com/v1';

/** Settings of the model that answers in the AI workspace. */
export const modelSettings = {
  AI_PROVIDER: z
    .enum(MODEL_PROVIDERS)
    .default('rules')
    .describe('Who answers in the AI workspace: rules of our own, offline, or a model'),
  AI_MODEL: z.string().min(1).max(200).optional().describe('Name of the model at its provider'),
  AI_BASE_URL: z
    .url({ protocol: /^https?$/ })
    .refine((text) => !/[@?#]/.test(text), 'must be an address without credentials, query and fragment')
    .optional()
    .describe('API of the provider, such as http://localhost:11434/v1'),
  AI_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{1,1000}$/, 'must be printable characters without blanks')
    .optional()
    .describe('Key at the provider'),
  AI_MAX_OUTPUT_TOKENS: whole(2_000, 100, 8_000).describe('Maximum length of one answer of the model'),
  AI_CONTEXT_TOKENS: whole(12_000, 2_000, 32_000).describe('Maximum length of the linked items in a prompt'),
  AI_PRICE_INPUT: amount().describe('Price of a million input tokens, in any currency'),
  AI_PRICE_OUTPUT: amount().describe('Price of a million output tokens, in the same currency'),
  AI_CHAT_SECONDS: whole(60, 1, 300).describe('Time that a chat request waits for its answer'),
  AI_CHAT_BEGIN_SECONDS: whole(10, 1, 300).describe('Time until a message that no worker has begun is withdrawn'),
  AI_TURNS_PER_TEAM: whole(10, 1, 50).describe('Messages of a team that a model answers at the same time; the others wait'),
  AI_MONTHLY_TOKENS_PER_TEAM: whole(0, 0, 1_000_000_000).describe('Tokens of a team in a month; 0 for no limit'),
  AI_MONTHLY_COST_PER_TEAM: amount().describe('Cost of a team in a month, in the currency of the prices; 0 for no limit'),
};

export type ModelSettings = z.output<z.ZodObject<typeof modelSettings>>;

const PRIVATE_RANGES = ['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'];
const PRIVATE_NAME = /^[^.]+$|\.(?:localhost|local|internal|lan|home\.arpa)$/;

/** Returns whether a host is in a private network by its address, or by a name that no public resolver knows. */
function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(host) ? PRIVATE_RANGES.includes(ipaddr.process(host).range()) : PRIVATE_NAME.test(host);
}

/** Returns a line for each setting that the chosen provider lacks, or that production refuses. */
export function modelProblems(settings: ModelSettings, isProduction: boolean): string[] {
  const { AI_PROVIDER: provider, AI_BASE_URL: address } = settings;
  if (provider === 'rules') return [];
  const url = address === undefined ? undefined : new URL(address);
  const isUnpriced = settings.AI_PRICE_INPUT === 0 && settings.AI_PRICE_OUTPUT === 0;
  const problems = [
    settings.AI_MODEL === undefined && `AI_MODEL: needed with AI_PROVIDER=${provider}`,
    provider === 'openai_compatible' && !url && 'AI_BASE_URL: needed with AI_PROVIDER=openai_compatible',
    provider === 'anthropic' && settings.AI_API_KEY === undefined && 'AI_API_KEY: needed with AI_PROVIDER=anthropic',
    isProduction &&
      url?.protocol === 'http:' &&
      !isPrivateHost(url.hostname) &&
      'AI_BASE_URL: must be https, unless its host is in a private network',
    settings.AI_MONTHLY_COST_PER_TEAM > 0 && isUnpriced && 'AI_MONTHLY_COST_PER_TEAM: needs AI_PRICE_INPUT or AI_PRICE_OUTPUT',
  ];
  return problems.filter((problem) => typeof problem === 'string');
}

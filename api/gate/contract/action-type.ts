import type { z } from 'zod';
import type { Context, Services } from '../../platform/context.js';

export const RISKS = ['low', 'medium', 'high'] as const;
export type Risk = (typeof RISKS)[number];

/** Result of an action: the key of its effect and the output in the run's record, without user text. */
export interface Effect {
  entity_type: 'task' | 'comment' | 'member' | 'note' | 'relation';
  entity_id: string;
  output: Record<string, unknown>;
}

/** Parameters that may be omitted: they default to the event's task or project, then to the automation's project. */
export type DefaultedParam = 'task_id' | 'project_id';

/** Description of an action, whether or not it can be performed yet. */
export interface ActionDescription<P = unknown> {
  type: string;
  label: string;
  category: 'core' | 'integration';
  /** Parameters as `perform` receives them: templates rendered, defaults filled in. */
  params: z.ZodType<P> & Pick<z.ZodObject, 'shape'>;
  defaulted?: readonly DefaultedParam[];
  /** The action updates fields, so null is meaningful: it clears a field, or is rejected as in the API. */
  clears?: true;
  /** Parameters that may contain templates; all if absent. */
  templated?: readonly string[];
  /**
   * Sends the values of `{{secret:NAME}}` to the address in `params.url`; `later`: its parameters get a mark for each reference, which
   * another function fills in. In other actions a reference fails.
   */
  secrets?: true | 'later';
  /** Secrets that it needs without naming them; it fails if one is missing. */
  needs?: readonly string[];
  /** Adds parameters that follow from the run's event, after templates are rendered: nothing of the event is rendered again. */
  complete?: (params: Readonly<Record<string, unknown>>, event: Readonly<Record<string, unknown>>) => Record<string, unknown>;
  /** Risk that a person is shown; by default medium for what is sent, and low for anything else. With a secret it is high. */
  risk?: Risk;
  /** The service that it uses, and the scopes that the creator's connection needs. */
  integration?: { provider: string; scopes: readonly string[] };
}

/** The run of an action. */
interface ActingRun {
  run_id: string;
  automation_name: string;
  team_id: string | null;
  project_id: string | null;
}

/** An action that can be performed. It calls the same operation as the API, with the creator's current permissions. */
export interface ActionType<P = unknown> extends ActionDescription<P> {
  /** @throws the errors of the operation */
  perform(ctx: Context, params: P, run: ActingRun): Promise<Effect>;
  /** What a trial does instead of it, where that would take what others wait for. @throws as `perform` would */
  check?(ctx: Context, params: P, run: ActingRun): Promise<unknown>;
}

/** The step of a run that sends. */
interface OutboundStep {
  run_id: string;
  index: number;
  automation_id: string;
  automation_name: string;
  team_id: string | null;
  /** Depth of what it causes, in the chain of automations. */
  depth: number;
}

/** Context of one outbound attempt. */
export interface OutboundContext {
  services: Services;
  team_id: string | null;
  creator_id: string;
  /** The automation's creator, outside of any transaction. */
  creator: Context;
  run: OutboundStep;
  /** Effect key: the same at every attempt, different in a replay. */
  key: string;
  /** Starts at 1. */
  attempt: number;
  /** Start of the first attempt. */
  firstAt: Date;
  /** Values of the secrets that the action refers to or needs, by name. */
  secrets: ReadonlyMap<string, string>;
  /** Users who allowed the secrets of this version by saving its actions. */
  secret_author_ids: string[];
  /** Values to redact from the record; an action that sends other secret values adds them. */
  hidden: Set<string>;
}

/** Outcome of an attempt. `hidden` values are redacted from texts in `output` before they are stored. */
export interface OutboundResult {
  output: Record<string, unknown>;
  /** The response was longer than the part that was read. */
  isCut?: boolean;
  /** The answer is not there yet: the run waits this long, unless it is woken, and the same attempt continues. */
  lookAfterMs?: number;
  /** Absent on success. `isRetryable`: another attempt may succeed, after `waitMs` at the earliest. */
  failure?: { code: string; message: string; isRetryable: boolean; waitMs?: number | null };
}

/** An outbound action; no transaction is open during send(). */
export interface OutboundAction<P = unknown> extends ActionDescription<P> {
  /** `send` may return `lookAfterMs`. It is called again for the same attempt, also after a worker died. */
  answersLater?: true;
  /** @throws ActionRefused | OutboundFailure; text of the receiver occurs in `output` only */
  send(context: OutboundContext, params: P): Promise<OutboundResult>;
}

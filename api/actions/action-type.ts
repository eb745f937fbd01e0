import type { z } from 'zod';
import type { Context, Services } from '../core/context.js';

/** What an action did: the key of its effect and what the run's record shows of it; no text of the user's in there. */
export interface Effect {
  entity_type: 'task' | 'comment' | 'member';
  entity_id: string;
  output: Record<string, unknown>;
}

/** Parameters that may be left out: the event says which task or project is meant, else the automation (F5). */
export type DefaultedParam = 'task_id' | 'project_id';

/** An action as the catalogue knows it, whether or not it can be performed. */
export interface ActionDescription<P = unknown> {
  type: string;
  label: string;
  category: 'core' | 'integration';
  /** Parameters as `perform` gets them: templates rendered, defaults filled in. */
  params: z.ZodType<P> & Pick<z.ZodObject, 'shape'>;
  defaulted?: readonly DefaultedParam[];
  /** It changes fields, so that null says something: it clears one, or is refused as the API refuses it. */
  clears?: true;
  /** Parameters that may hold templates; all of them where absent. */
  templated?: readonly string[];
  /** It sends what `{{secret:NAME}}` stands for to the address in `params.url`; every other action fails on a handle (F12). */
  secrets?: true;
  /** Secrets that it needs without their being named; it is not asked to send without them. */
  needs?: readonly string[];
  /** Where it belongs to a service that people connect (F13): which, and what the connection must allow. */
  integration?: { provider: string; scopes: readonly string[] };
}

/** The run in which an action happens. */
interface ActingRun {
  run_id: string;
  automation_name: string;
  team_id: string | null;
  project_id: string | null;
}

/** An action that can be performed. It calls the same verb as the API, so the creator's rights of that moment decide. */
export interface ActionType<P = unknown> extends ActionDescription<P> {
  /** @throws what the verb throws */
  perform(ctx: Context, params: P, run: ActingRun): Promise<Effect>;
}

/** What a request of an action knows of where it comes from. */
export interface OutboundContext {
  services: Services;
  team_id: string | null;
  creator_id: string;
  event: Readonly<Record<string, unknown>>;
  /** The effect's key: the same at every attempt, another for a replay (R4). */
  key: string;
  /** 1 for the first. */
  attempt: number;
  /** When the first attempt began. */
  firstAt: Date;
  /** The team's secrets that the action refers to or needs, by name. */
  secrets: ReadonlyMap<string, string>;
  /** Everything that must not come back in what is recorded; whoever sends more that is secret adds it. */
  hidden: Set<string>;
}

/** What came of it. Texts in `output` are scrubbed of `hidden` before they are stored. */
export interface OutboundResult {
  output: Record<string, unknown>;
  /** The answer was longer than what was read of it. */
  isCut?: boolean;
  /** Absent where it went well. `isRetryable`: it may go well the next time, not before `waitMs` has passed. */
  failure?: { code: string; message: string; isRetryable: boolean; waitMs?: number | null };
}

/** An action that leaves the house: no transaction is open while it waits for an answer. */
export interface OutboundAction<P = unknown> extends ActionDescription<P> {
  /** @throws ActionRefused | OutboundFailure; words of the other side stand in `output` only */
  send(errand: OutboundContext, params: P): Promise<OutboundResult>;
}

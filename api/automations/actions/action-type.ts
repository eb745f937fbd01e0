import type { z } from 'zod';
import type { Context } from '../../core/context.js';

/** What an action did: the key of its effect and what the run's record shows of it; no text of the user's in there. */
export interface Effect {
  entity_type: 'task' | 'comment';
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
  /** Parameters that may hold templates; all of them where absent. */
  templated?: readonly string[];
}

/** An action that can be performed. It calls the same verb as the API, so the creator's rights of that moment decide. */
export interface ActionType<P = unknown> extends ActionDescription<P> {
  /** @throws what the verb throws */
  perform(ctx: Context, params: P): Promise<Effect>;
}

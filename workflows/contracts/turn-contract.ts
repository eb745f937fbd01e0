/** Names and shapes of a turn of the agent. */
import type { Searchable } from './searchable.js';

/** Rows of the outbox, by kind. */
declare module '../../api/platform/outbox/outbox.js' {
  interface OutboxPayloads {
    /** Start the workflow of a turn. */
    'turn.start': { message_id: string; incarnation: number };
    /** Wake it after a turn before it ended, or a stop. */
    'turn.wake': { message_id: string; incarnation: number };
  }
}

/** Workflow type of a turn of the agent: its work on one message. */
export const AGENT_TURN = 'agentTurn';
export const turnWorkflowId = (messageId: string): string => `turn:${messageId}`;
/** `wake`: read the row again, because an earlier turn has ended. `stop`: the row says that the turn was stopped. */
export const TURN_SIGNALS = { wake: 'wake', stop: 'stop' } as const;

/** A turn and its incarnation: every activity sends them, and the first one claims the turn for its execution. */
export interface TurnRef {
  messageId: string;
  incarnation: number;
}

export interface AgentTurnInput extends Searchable, TurnRef {
  /** `rules`: no model is asked; one transaction reads, stages and answers. */
  mode: 'rules' | 'model';
}

/** Steps of a model in one turn, and the time for all of them. */
export const TURN_MAX_STEPS = 8;
export const TURN_SECONDS = 170;

/**
 * Codes of a turn's end. `done`: the model said its last word, which is stored. The next four come from the workflow; the rest are the
 * codes of a model's failure, and the types of the failures that `modelStep` throws.
 */
export const TURN_ENDS = [
  'done',
  'loop_limit',
  'timed_out',
  'cancelled',
  'internal',
  'model_busy',
  'model_refused',
  'model_garbled',
  'model_unreachable',
  'budget_exceeded',
  'model_not_allowed',
] as const;
export type TurnEnd = (typeof TURN_ENDS)[number];

/**
 * State of a turn after an activity. `waiting`: an earlier message of the session has no answer yet. `running`: the model may be asked.
 * `superseded`: it has ended before, was withdrawn, or belongs to another execution. Codes and counts only.
 */
export interface TurnView {
  state: 'waiting' | 'running' | 'answered' | 'failed' | 'cancelled' | 'superseded';
  code?: string;
  /** Number of changes of the plan that it staged. */
  changes?: number;
}

/** One call of the model. `more`: it read something and wants to continue. `superseded`: the turn has ended, for example by a stop. */
export interface ModelStepResult {
  said: 'more' | 'done' | 'superseded';
  inputTokens: number;
  outputTokens: number;
}

export interface TurnActivities {
  /** The whole turn without a model. */
  answerByRules(turn: TurnRef): Promise<TurnView>;
  /** Claims the turn for a model. */
  beginTurn(turn: TurnRef): Promise<TurnView>;
  /** Asks the model once, on the queue `outbound`, or returns the stored result of this step. Fails with a code of TURN_ENDS as its type. */
  modelStep(turn: TurnRef, step: number): Promise<ModelStepResult>;
  /** Writes the answer, and the plan if there is one. Always leaves a message, whatever the end. */
  finishTurn(turn: TurnRef, end: TurnEnd): Promise<TurnView>;
}

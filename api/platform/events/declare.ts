import type { z } from 'zod';

/** Payload of an event. */
export type Payload = Readonly<Record<string, unknown>>;

interface EventDeclaration {
  /** Words of the trigger in the present tense; without them no automation starts by it. */
  trigger?: string;
  /** What has happened, in words: of a run that it started, and of a webhook. */
  past: string;
  /** Endpoints of webhooks can subscribe to it: in the same words, or in others. */
  webhook?: true | string;
  /** Fields of an example; those of every event may be left out. */
  sample: Payload;
}

/** An event that the outbox stores. */
export interface StoredEvent<Fields extends z.ZodRawShape = z.ZodRawShape> extends EventDeclaration {
  payload: Fields;
  /** A page of records that another deletion or restoration took along: no automation starts, endpoints receive each record under this name. */
  recordEvent?: string;
}

/** A name for some of the stored events, each with a test on the payload: no row of its own is stored. */
export interface DerivedEvent extends EventDeclaration {
  of: Readonly<Record<string, (payload: Payload) => boolean>>;
}

/** Declares an event that is stored; the type of its payload follows. */
export const stored = <Fields extends z.ZodRawShape>(event: StoredEvent<Fields>): StoredEvent<Fields> => event;
/** Declares a name for some of the stored events. */
export const derived = (event: DerivedEvent): DerivedEvent => event;

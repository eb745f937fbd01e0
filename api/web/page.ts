import type { z } from 'zod';
import type { User } from '../auth/schema.js';
import type { Ability } from '../core/access.js';
import type { Context } from '../core/context.js';
import type { LimitName } from '../http/rate-limit.js';
import type { Fields } from './server/read-form.js';
import type { Step } from './server/sign-in-step.js';

/**
 * Who may come: `anyone`, signed in or not; `visitor`, who is not signed in (others go home); else people signed in, as the table of
 * who may do what says of the ability (others sign in first).
 */
type Who = 'anyone' | 'visitor' | Ability;

export interface PageRequest<Params = unknown, Query = unknown, Form = unknown> {
  /** What verbs take; the actor is the person, or nobody. */
  ctx: Context;
  /** The person; null for nobody. */
  me: User | null;
  /** What a sign-in or sign-up under way has got so far. */
  step: Step | null;
  /** Proves that this browser is a trusted device. */
  deviceToken: string | undefined;
  params: Params;
  query: Query;
  form: Form;
}

/** One line for the next page. */
export interface Notice {
  kind: 'good' | 'bad';
  text: string;
}

/** A page to show: the template `views/<view>.eta` and its data. */
export interface View {
  view: string;
  /** Of the browser's window; the product's name is added. */
  title: string;
  data: Record<string, unknown>;
  status?: number;
}

/** Another page to go to, with what changes for the browser on the way. */
export interface Redirect {
  to: string;
  notice?: Notice;
  /** A token of the API for a session that has just been opened: the browser is signed in to it from now on. */
  signIn?: string;
  /** With `signIn`: the person goes on being who they are, and comes back to it by `signOut`. */
  isImpersonation?: true;
  /** Makes this browser a trusted device. */
  deviceToken?: string | undefined;
  signOut?: true;
  /** Goes with the browser to the next page of a sign-in or sign-up. */
  step?: Step;
}

export type PageResult = View | Redirect;

/** Why a form was refused. */
export interface FormError {
  status: number;
  message: string;
  /** By field. */
  fields: Record<string, string>;
}

interface Described {
  path: `/app${string}`;
  access: Who;
  /** Shared with the route of the API that does the same. */
  limit?: LimitName;
}

export interface PageSpec<P extends z.ZodType, Q extends z.ZodType, F extends z.ZodType> extends Described {
  method: 'get' | 'post';
  params?: P;
  query?: Q;
  form?: F;
  handle: (visit: PageRequest<z.output<P>, z.output<Q>, z.output<F>>) => Promise<PageResult>;
  /** What a person sees whose form was refused, with what they had typed; the error page where absent. */
  onError?: (visit: PageRequest<z.output<P>, z.output<Q>, Fields>, problem: FormError) => Promise<PageResult>;
}

/** What the router and the tests read. */
export type Page = PageSpec<z.ZodType, z.ZodType, z.ZodType>;

/** Declares one page or one form's target. The handler calls verbs, as the routes of the API do. */
export function page<P extends z.ZodType = z.ZodUnknown, Q extends z.ZodType = z.ZodUnknown, F extends z.ZodType = z.ZodUnknown>(
  spec: PageSpec<P, Q, F>,
): Page {
  return spec as unknown as Page;
}

/** The person of a page that only people see. */
export function requireUser({ me }: Pick<PageRequest, 'me'>): User {
  if (!me) throw new Error('This page has no person: it must be declared for one');
  return me;
}

import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { User } from '../identity/auth/schema.js';
import type { Ability } from '../platform/access/access.js';
import type { Context } from '../platform/context.js';
import type { ApprovalPage } from '../automation/runs/approvals/list-approvals.js';
import type { IncomingFile } from '../platform/endpoint/read-upload.js';
import type { LimitName } from '../platform/endpoint/limits.js';
import type { Fields } from './server/read-form.js';
import type { Undo } from './server/undo.js';
import type { Step } from './server/sign-in-step.js';

/**
 * Access rule of the page. `anyone`: signed in or not; `visitor`: not signed in (others are redirected home); an ability: signed-in
 * users whom the access table admits (others sign in first).
 */
type Who = 'anyone' | 'visitor' | Ability;

/** Who reads a page. `current_team_id`: of the team whose page this browser showed last, which may be none of theirs. */
export type Reader = User & { current_team_id?: string | undefined };

export interface PageRequest<Params = unknown, Query = unknown, Form = unknown> {
  /** Context for operations; the actor is the user, or the system for a visitor. */
  ctx: Context;
  /** The signed-in user; null for a visitor. */
  me: Reader | null;
  /** The first gates that wait in the user's teams, which the navigation counts; empty for a visitor. */
  pending: ApprovalPage;
  /** State of a pending sign-in or sign-up. */
  step: Step | null;
  /** Proves that this browser is a trusted device. */
  deviceToken: string | undefined;
  params: Params;
  query: Query;
  form: Form;
  /** Of a page with `fileBytes`, if the form brought one. */
  file?: IncomingFile;
}

/** A one-line message for the next page. */
export interface Notice {
  kind: 'good' | 'bad';
  text: string;
  /** Id of the element that it is about, which shows it if the page has it. */
  at?: string;
  /** Takes the change back; a button beside the text. */
  undo?: Undo | undefined;
  /** The change is one that was undone: its button makes it again. */
  redoes?: boolean;
  /** What the change was called at first, where the text says what became of it. */
  called?: string;
}

/** A page to render: a file of `views/` with its data. */
export interface View {
  view: string;
  /** Title of the browser window; the product's name is appended. */
  title: string;
  data: Record<string, unknown>;
  status?: number;
  /** Part of a page, which a script puts into it: without the frame. */
  isFragment?: true;
  /** Scripts of our own that this page needs beside those of every page. */
  scripts?: readonly string[];
  /** The team that the page is about: pages about one team begin with it from then on. */
  teamId?: string | undefined;
  /** Ids of elements that show a notice about them. */
  noticePlaces?: readonly string[];
}

/** A redirect, with changes of the browser's session. */
export interface Redirect {
  to: string;
  notice?: Notice;
  /** API token of a session that was just opened; the browser is signed in to it. */
  signIn?: string;
  /** With `signIn`: the user's own session is kept, and `signOut` returns to it. */
  isImpersonation?: true;
  /** Makes this browser a trusted device. */
  deviceToken?: string | undefined;
  signOut?: true;
  /** State that the browser carries to the next page of a sign-in or sign-up. */
  step?: Step;
}

/** A file to save. */
export interface Download {
  bytes: Readable;
  headers: Record<string, string>;
}

export type PageResult = View | Redirect | Download;

/** Why a form was rejected. */
export interface FormError {
  status: number;
  message: string;
  /** Messages by field. */
  fields: Record<string, string>;
  /** Of a form with an outdated version: what has changed since, and the user who changed it last. */
  changedSince?: ChangedSince;
}

export interface ChangedSince {
  fields: string[];
  /** Id of a user; null if no user did it. */
  by: string | null;
  at: string | null;
}

interface PageTexts {
  path: `/app${string}`;
  access: Who;
  /** Shared with the API route of the same operation. */
  limit?: LimitName;
}

export interface PageSpec<P extends z.ZodType, Q extends z.ZodType, F extends z.ZodType> extends PageTexts {
  method: 'get' | 'post';
  params?: P;
  /** Of a path that would take any name: whether this one is of the page. */
  isNamed?: (params: Record<string, string>) => boolean;
  query?: Q;
  form?: F;
  /** Maximum size of the posted form, bytes; defaults to 64 kB. */
  formBytes?: number;
  /** The form is multipart/form-data and ends with one file of at most this many bytes, which the handler reads as it arrives. */
  fileBytes?: number;
  handle: (visit: PageRequest<z.output<P>, z.output<Q>, z.output<F>>) => Promise<PageResult>;
  /** Renders a rejected form with the values typed; defaults to the error page. */
  onError?: (visit: PageRequest<z.output<P>, z.output<Q>, Fields>, problem: FormError) => Promise<PageResult>;
}

/** The type that the router and the tests read. */
export type Page = PageSpec<z.ZodType, z.ZodType, z.ZodType>;

/** Declares one page or form target. The handler calls operations, like the routes of the API. */
export function page<P extends z.ZodType = z.ZodUnknown, Q extends z.ZodType = z.ZodUnknown, F extends z.ZodType = z.ZodUnknown>(
  spec: PageSpec<P, Q, F>,
): Page {
  return spec as unknown as Page;
}

/** Returns the user of a page that requires sign-in. */
export function requireUser({ me }: Pick<PageRequest, 'me'>): Reader {
  if (!me) throw new Error('This page has no person: it must be declared for one');
  return me;
}

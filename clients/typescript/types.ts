import type { FORMER_NAMES, OPERATIONS } from './operations.js';
import type { components, operations } from './schema.js';

/** Name of an operation, such as `listTasks`. */
export type OperationId = keyof typeof OPERATIONS & keyof operations;

type Schemas = components['schemas'];
export type Task = Schemas['Task'];
export type Project = Schemas['Project'];
export type Automation = Schemas['Automation'];
export type Run = Schemas['Run'];
/** An action of an automation as you write it: a union by `type`. */
export type Action = Schemas['AutomationActionInput'];
export type TriggerType = Schemas['TriggerType'];
export type ErrorBody = Schemas['Error'];
/** Grows with the service: handle unknown codes by `status`. */
export type ErrorCode = ErrorBody['error_code'];

type SuccessStatus = 200 | 201 | 202 | 206;
type BodyOf<R> = R extends { content: { 'application/json': infer B } } ? B : R extends { content: infer C } ? C[keyof C] : never;

/** Response body of an operation. */
export type Result<Id extends OperationId> = {
  [S in keyof operations[Id]['responses'] & SuccessStatus]: BodyOf<operations[Id]['responses'][S]>;
}[keyof operations[Id]['responses'] & SuccessStatus];

/** Operations that list something, page by page where there are pages. */
export type ListId = { [Id in OperationId]: (typeof OPERATIONS)[Id] extends { rows: string } ? Id : never }[OperationId];

/** The field with the rows of a list; empty for an array. */
type RowsOf<Id extends OperationId> = (typeof OPERATIONS)[Id] extends { rows: infer Field } ? Field : never;

/** Element of a list operation. */
export type Item<Id extends OperationId> =
  Result<Id> extends readonly (infer T)[]
    ? T
    : Result<Id>[RowsOf<Id> & keyof Result<Id>] extends readonly (infer T)[]
      ? T
      : never;

type RequestBody<O> = O extends { requestBody: { content: { 'application/json': infer B } | { 'multipart/form-data': infer B } } }
  ? { body: B }
  : O extends { requestBody: { content: { 'application/octet-stream': unknown } } }
    ? { body: Blob }
    : O extends { requestBody?: infer R }
      ? Exclude<R, undefined> extends { content: { 'application/json': infer B } }
        ? [B] extends [never]
          ? unknown
          : { body?: B }
        : unknown
      : unknown;

export interface CallOptions {
  /** Defaults to a new key for each POST that takes one. */
  idempotencyKey?: string;
  /** ETag of the version to change; 409 if it changed. */
  ifMatch?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Arguments of an operation: path and query parameters, body, options. */
export type Arguments<Id extends OperationId> = Pick<operations[Id]['parameters'], 'path' | 'query'> &
  RequestBody<operations[Id]> &
  CallOptions;

/** The arguments may be left out if nothing in them is required. */
export type Rest<Id extends OperationId> = object extends Arguments<Id> ? [args?: Arguments<Id>] : [args: Arguments<Id>];

/** One method for each operation. */
export type Methods = { [Id in OperationId]: (...args: Rest<Id>) => Promise<Result<Id>> };

type FormerNames = typeof FORMER_NAMES;
/** Methods under earlier names of their operations. */
export type FormerMethods = {
  /** @deprecated The operation has another name: see FORMER_NAMES. */
  [Name in keyof FormerNames]: Methods[FormerNames[Name]];
};

import type { z } from 'zod';
import type { Context } from '../../platform/context.js';
import type { Scope } from '../../platform/access/scopes.js';

/** A tool of the MCP endpoint. */
export interface McpTool<Input extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  /** Read by models. */
  description: string;
  /** Scope that the token needs, always. */
  scope: Scope;
  /** Strict: unknown arguments are rejected. */
  input: Input;
  /** Changes nothing: it runs as `proposer`, which no operation that writes admits. */
  readOnly: boolean;
  /** Runs without a transaction, because its operation opens its own. Others that are read-only run in a read-only one. */
  ownTransaction?: true;
  /** `scopes`: those of the token. @throws DomainError */
  call: (ctx: Context, input: z.output<Input>, scopes: readonly Scope[]) => Promise<Record<string, unknown>>;
}

/** Declares a tool; the input's type follows from its schema. */
export const mcpTool = <Input extends z.ZodObject>(tool: McpTool<Input>): McpTool => tool as unknown as McpTool;

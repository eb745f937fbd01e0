import type { ServerContext } from '@modelcontextprotocol/server';

/** The extension of the protocol for calls that take long. */
export const TASKS = 'io.modelcontextprotocol/tasks';

/** How the client of an agent can wait for a person, as it says in the message itself. */
export interface AgentClient {
  /** Tells it that the call still waits: some clients then give it more time. */
  progress?: (seconds: number, message: string) => Promise<void>;
  /** Whether it shows its user the address of a page and then calls again. */
  opensPages: boolean;
  /** Whether it asks for the state of a call by itself. */
  pollsTasks: boolean;
  /** What it was given to bring along when it calls again. Its own words until they are checked. */
  state?: string;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const member = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);

/** Reads what a client says of itself. Clients of versions with `initialize` say it once, to a server that keeps it; this one does not. */
export function readClient({ mcpReq }: ServerContext): AgentClient {
  const can = member(mcpReq.envelope, 'io.modelcontextprotocol/clientCapabilities');
  const progressToken = mcpReq._meta?.progressToken;
  const state = mcpReq.requestState();
  return {
    opensPages: isObject(member(member(can, 'elicitation'), 'url')),
    pollsTasks: isObject(member(member(can, 'extensions'), TASKS)),
    ...(typeof state === 'string' && { state }),
    ...(progressToken !== undefined && {
      progress: (progress, message) =>
        mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } }),
    }),
  };
}

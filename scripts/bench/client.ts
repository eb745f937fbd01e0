import type { World } from './seed.js';
import type { Service } from './servers.js';

/** Calls the API as the benchmark's user; `id` is the X-Correlation-ID, which identifies the audit entry. */
export async function call(
  api: Service,
  { token }: World,
  method: string,
  path: string,
  body?: object,
): Promise<{ id: string; body: Record<string, unknown> }> {
  const response = await fetch(`http://127.0.0.1:${api.port}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${JSON.stringify(answer)}`);
  return { id: response.headers.get('x-correlation-id') as string, body: answer };
}

import { randomUUID } from 'node:crypto';
import type { Answer, Client, TestApp } from '../support/app.js';
import type { Person } from './people.js';

export const OPERATION = { system: 'payments', name: 'deploy', target: 'production', arguments: { version: '4.2' } };

/** A change request as the API returns it. */
export interface TestRequest {
  request_id: string;
  request_hash: string;
  seq: number;
  code: string | null;
}

/** Asks for a change of the team. */
export async function buildRequest(
  app: TestApp,
  { team_id }: { team_id: string },
  by: Person | { token: string } | string,
  fields: Record<string, unknown> = {},
): Promise<TestRequest> {
  const { status, body } = await app
    .as(by)
    .post('/api/change-requests', { team_id, title: 'Release 4.2', operation: OPERATION, ...fields });
  if (status !== 201) throw new Error(`The request was refused with ${status}: ${JSON.stringify(body)}`);
  return body as TestRequest;
}

/** Calls about one request, as one caller. */
export function about(client: Client, { request_id, request_hash }: TestRequest) {
  const path = `/api/change-requests/${request_id}`;
  return {
    read: (query = ''): Promise<Answer> => client.get(`${path}${query}`),
    approve: (body: object = {}): Promise<Answer> => client.post(`${path}/approve`, { request_hash, ...body }),
    reject: (body: object = {}): Promise<Answer> => client.post(`${path}/reject`, { request_hash, ...body }),
    cancel: (body: object = {}): Promise<Answer> => client.post(`${path}/cancel`, body),
    edit: (body: object): Promise<Answer> => client.post(`${path}/edit`, { request_hash, ...body }),
    redeem: (body: object = {}): Promise<Answer> =>
      client.post(`${path}/redeem`, { request_hash, redemption_id: randomUUID(), ...body }),
    report: (body: object): Promise<Answer> => client.post(`${path}/outcome`, body),
  };
}

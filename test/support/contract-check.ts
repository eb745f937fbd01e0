import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { createOpenApi } from '../../api/http/openapi.js';
import { ENDPOINTS } from '../../api/http/router.js';
import type { Answer } from './app.js';

type Validate = { (value: unknown): boolean; errors?: unknown };

/** Clients must take fields that are not in the document; our own answers must have none, so here its objects are closed. */
const closed = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'properties' in value && !('additionalProperties' in value)
    ? { ...value, additionalProperties: false }
    : value;

/** The published document, with every object closed. */
export const closedDocument = JSON.parse(JSON.stringify(createOpenApi(ENDPOINTS), closed)) as Record<string, unknown>;
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
(addFormats as unknown as (instance: Ajv2020) => void)(ajv);
ajv.addSchema(closedDocument, 'openapi');

const routes = ENDPOINTS.map((endpoint) => ({
  endpoint,
  pattern: new RegExp(`^${endpoint.path.replace(/:(\w+)/g, '[^/]+').replaceAll('.', '\\.')}$`),
}));
const compiled = new Map<string, Validate | undefined>();

function validatorOf(method: string, path: string, status: number): Validate | undefined {
  const key = `${method} ${path} ${status}`;
  if (!compiled.has(key)) {
    const pointer = ['paths', path, method, 'responses', String(status), 'content', 'application/json', 'schema']
      .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    compiled.set(key, ajv.compile({ $ref: `openapi#/${pointer}` }) as Validate);
  }
  return compiled.get(key);
}

/**
 * Holds every answer a test receives against the published document: the shape that clients are promised, not the code that
 * made it. Fails on an undeclared status too.
 */
export function checkAgainstDocument(method: string, path: string, answer: Answer): void {
  const bare = path.split('?')[0] as string;
  const route = routes.find(({ endpoint, pattern }) => endpoint.method === method && pattern.test(bare));
  if (!route || answer.status === 304 || answer.body === undefined) return;
  const declared = route.endpoint.path.replace(/:(\w+)/g, '{$1}');
  const validate = validatorOf(method, declared, answer.status);
  if (validate && !validate(answer.body)) {
    const shown = JSON.stringify(answer.body).slice(0, 600);
    throw new Error(
      `${method} ${path} answered ${answer.status} unlike its document: ${JSON.stringify(validate.errors, null, 1)}\n${shown}`,
    );
  }
}

import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { closedDocument } from '../../support/contract-check.js';

// The worked answers of the published document are answers that the document allows.

interface Media {
  schema: object;
  example?: unknown;
  examples?: Record<string, { $ref: string }>;
}
interface Operation {
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Answer | { $ref: string }>;
}
interface Answer {
  content?: Record<string, Media>;
}
const document = closedDocument() as unknown as {
  paths: Record<string, Record<string, Operation>>;
  components: { examples: Record<string, { value: { error_code: string } }>; responses: Record<string, Answer> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
);
const answers = operations.flatMap(({ name, operation }) =>
  Object.entries(operation.responses).flatMap(([status, declared]) => {
    const answer = '$ref' in declared ? document.components.responses[declared.$ref.split('/').at(-1) as string] : declared;
    const media = answer?.content?.['application/json']; // none: no body, or a page
    return media ? [{ name: `${name} ${status}`, status: Number(status), media }] : [];
  }),
);

const ajv = new Ajv2020({ strict: false, validateFormats: true });
(addFormats as unknown as (instance: Ajv2020) => void)(ajv);
ajv.addSchema(document, 'openapi');
/** What is wrong with an example; undefined for nothing. */
function wrong(pointer: string[], example: unknown): string | undefined {
  const ref = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
  const validate = ajv.compile({ $ref: `openapi#/${ref}` });
  return validate(example) ? undefined : ajv.errorsText(validate.errors);
}
const pointerTo = (name: string) => {
  const [method = '', path = '', status = ''] = name.split(' ');
  return ['paths', path, method, 'responses', status, 'content', 'application/json', 'schema'];
};

it('every success has one, and it fits', () => {
  const successes = answers.filter(({ status }) => status < 300);
  expect(successes.length).toBeGreaterThan(100);
  expect(successes.filter(({ media }) => media.example === undefined).map(({ name }) => name)).toEqual([]);
  const faults = successes.map(({ name, media }) => [name, wrong(pointerTo(name), media.example)] as const);
  expect(faults.filter(([, fault]) => fault !== undefined)).toEqual([]);
});

it('every refusal has one with the code of its status, and it fits', () => {
  const refusals = answers.filter(({ status }) => status >= 400);
  expect(refusals.length).toBeGreaterThan(100);
  const faults = refusals.filter(
    ({ status, media }) => media.examples?.[`Error${status}`]?.$ref !== `#/components/examples/Error${status}`,
  );
  expect(faults.map(({ name }) => name)).toEqual([]);
  for (const [name, { value }] of Object.entries(document.components.examples)) {
    expect([name, wrong(['components', 'schemas', 'Error'], value)]).toEqual([name, undefined]);
  }
  expect(document.components.examples['Error410']?.value.error_code).toBe('APPROVAL_EXPIRED');
  expect(document.components.examples['Error503']?.value.error_code).toBe('INTERNAL_ERROR');
});

it('every body has one that fits, the raw delivery’s too', () => {
  const getType = ({ operation }: (typeof operations)[number]) => Object.keys(operation.requestBody?.content ?? {})[0] ?? '';
  // The bytes of a file: any will do.
  const bodies = operations.filter((one) => one.operation.requestBody && getType(one) !== 'application/octet-stream');
  expect(bodies.length).toBeGreaterThan(10);
  const without = bodies.filter((body) => body.operation.requestBody?.content[getType(body)]?.example === undefined);
  expect(without.map(({ name }) => name)).toEqual([]);
  const faults = bodies.map((body) => {
    const [method = '', path = ''] = body.name.split(' ');
    const pointer = ['paths', path, method, 'requestBody', 'content', getType(body), 'schema'];
    return [body.name, wrong(pointer, body.operation.requestBody?.content[getType(body)]?.example)] as const;
  });
  expect(faults.filter(([, fault]) => fault !== undefined)).toEqual([]);
});

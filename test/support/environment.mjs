/**
 * The environment of a test file: Node's, with `answerFaults`, which holds an answer against the published document. Its validators live
 * outside of the test files' contexts, so each worker process of jest reads the document and compiles a validator once, not once a file.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { TestEnvironment } from 'jest-environment-node';

let loaded;
/** By method, path and status; by the text of the schema. */
const validators = new Map();
const compiled = new Map();

/** Reads the document that global-setup.mjs wrote; its own test checks it against the meta-schema. */
function load() {
  const document = JSON.parse(readFileSync(process.env.ASSENT_TEST_DOCUMENT, 'utf8'));
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true, validateSchema: false });
  addFormats.default(ajv);
  ajv.addSchema(document, 'openapi');
  const routes = Object.entries(document.paths)
    .map(([path, methods]) => ({
      path,
      methods,
      parameters: path.split('{').length,
      pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
    }))
    // As the router does: a literal segment wins over a parameter.
    .sort((a, b) => a.parameters - b.parameters);
  // By their number of segments: few are left to compare with a path.
  const bySegments = new Map();
  for (const route of routes) {
    const segments = route.path.split('/').length;
    bySegments.set(segments, [...(bySegments.get(segments) ?? []), route]);
  }
  return { ajv, document, bySegments };
}

/** Returns the validator of one declared answer. @throws Error when the document does not declare the status */
function validatorOf(method, path, status) {
  const key = `${method} ${path} ${status}`;
  if (!validators.has(key)) validators.set(key, compile(method, path, status));
  return validators.get(key);
}

/** Answers with the same schema, as all refusals have, share its validator: compiling one takes as long as a thousand answers. */
function compile(method, path, status) {
  const declared = loaded.document.paths[path][method].responses[status];
  const at = declared?.$ref?.slice(2).split('/') ?? ['paths', path, method, 'responses', String(status)];
  const { content } = at.reduce((value, key) => value?.[key], loaded.document) ?? {};
  // The bytes of a file: any will do.
  if (content?.['*/*']) return () => true;
  const schema = JSON.stringify(content?.['application/json']?.schema);
  const pointer = [...at, 'content', 'application/json', 'schema']
    .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/');
  if (schema === undefined || !compiled.has(schema)) compiled.set(schema, loaded.ajv.compile({ $ref: `openapi#/${pointer}` }));
  return compiled.get(schema);
}

/** By method, path and status: the headers and media types that the document declares, in lower case. */
const declared = new Map();

function declarationOf(method, path, status) {
  const key = `${method} ${path} ${status}`;
  if (!declared.has(key)) {
    const found = loaded.document.paths[path][method].responses[status];
    const at = found?.$ref?.slice(2).split('/') ?? [];
    const { headers = {}, content = {} } = at.reduce((value, name) => value?.[name], found?.$ref ? loaded.document : found) ?? {};
    const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
    declared.set(key, { names, types: Object.keys(content) });
  }
  return declared.get(key);
}

/** Returns headers of ours that the document does not declare for this answer, or its undeclared media type. */
function undeclared(method, path, status, headers) {
  loaded.headers ??= new Set(Object.keys(loaded.document.components.headers).map((name) => name.toLowerCase()));
  const { names, types } = declarationOf(method, path, status);
  const ours = Object.keys(headers).filter((name) => loaded.headers.has(name) && !names.has(name));
  const type = headers['content-type']?.split(';')[0];
  const isDeclared = type === undefined || types.includes(type) || types.includes('*/*');
  return [...ours.map((name) => `undeclared header ${name}`), ...(isDeclared ? [] : [`undeclared media type ${type}`])].join(
    ', ',
  );
}

/**
 * Returns what is wrong with an answer's headers and body; undefined for nothing, or when the document has no such route.
 * @param {string} method in lower case
 * @param {string} path without its query
 * @param {number} status
 * @param {unknown} body undefined for none
 * @param {Record<string, string>} headers by their names in lower case
 * @returns {string | undefined}
 */
function answerFaults(method, path, status, body, headers) {
  loaded ??= load();
  const route = loaded.bySegments
    .get(path.split('/').length)
    ?.find(({ methods, pattern }) => method in methods && pattern.test(path));
  if (!route) return undefined;
  const strange = undeclared(method, route.path, status, headers);
  if (strange !== '') return strange;
  if (status === 304 || body === undefined) return undefined;
  const validate = validatorOf(method, route.path, status);
  return validate(body) ? undefined : JSON.stringify(validate.errors, null, 1);
}

/** Returns a generator of numbers in [0, 1) that repeats itself for the same seed (mulberry32). */
function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const DAY_MS = 86_400_000;
/** Most tests end sooner. */
const SHORT_TEST_MS = 20_000;

/** Many tests name a day, and then ask a process or the database, which name it again: none begins shortly before midnight in UTC. */
async function waitForMidnight() {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < SHORT_TEST_MS) await sleep(left);
}

export default class extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.seed = config.globalConfig.seed;
    this.random = seeded(this.seed);
  }

  async setup() {
    await super.setup();
    // A failed run can be repeated: `--seed`.
    this.global.Math.random = this.random;
    fc.configureGlobal({ seed: this.seed });
    this.global.answerFaults = answerFaults;
    // The product runs outside of this context (runtime.cjs): what it returns must be an instance of what a test names.
    Object.assign(this.global, { Date, Error, TypeError, RangeError });
  }

  async handleTestEvent({ name }) {
    if (name === 'test_start') await waitForMidnight();
  }
}

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const workflows = resolve(import.meta.dirname, '../../dist/workflows');

/** Names that workflows/index.ts exports: the workflow types that the server knows. */
const types = [...readFileSync(join(workflows, 'index.js'), 'utf8').matchAll(/export \{([^}]+)\}/g)].flatMap(([, names = '']) =>
  names.split(',').map((name) => name.trim()),
);

/** Packages whose modules are inside a bundle, from the addresses that webpack gives them. */
const packagesIn = (code: string): string[] => {
  const found = [...code.matchAll(/"[./][^"\n]*node_modules\/((?:@[^"/]+\/)?[^"/]+)\//g)].map(([, name]) => name as string);
  return [...new Set(found)].toSorted();
};
/** Temporal's own, and what that needs. zod, knex and their like would be code that is not deterministic, and megabytes of it. */
const ALLOWED = ['@temporalio/common', '@temporalio/workflow', 'long', 'ms', 'nexus-rpc'];

const ownModules = (code: string): string[] => [
  ...new Set(
    [...code.matchAll(/"\.\/dist\/((?:api|activities|db|scripts|workflows)\/[^"]+\.js)"/g)].map(([, path]) => path as string),
  ),
];

it('names every workflow type that runs under way may have', () => {
  expect(types).toEqual(expect.arrayContaining(['automationRun', 'housekeeping']));
});

describe.each([
  ['the prebuilt bundle', () => Promise.resolve(readFileSync(process.env['ASSENT_TEST_BUNDLE'] ?? '', 'utf8'))],
  [
    'a bundle made now',
    async () => {
      const { code } = await bundleWorkflowCode({
        workflowsPath: join(workflows, 'index.js'),
        workflowInterceptorModules: [join(workflows, 'interceptors.js')],
        logger: new DefaultLogger('ERROR'),
      });
      return code;
    },
  ],
])('%s', (_name, make) => {
  let code: string;
  beforeAll(async () => {
    code = await make();
  });

  it('holds every workflow type', () => {
    for (const type of types) expect(code).toMatch(new RegExp(`\\b(async )?function ${type}\\b`));
  });

  it('holds Temporal’s packages and no others', () => {
    expect(packagesIn(code)).toEqual(ALLOWED);
  });

  it('holds of our own code workflows and rules only', () => {
    const own = ownModules(code);
    expect(own).toContain('workflows/automation-run.js');
    expect(own.filter((path) => !/^workflows\/|^(api\/.*|db\/models)\/rules\.js$/.test(path))).toEqual([]);
  });

  it('stays under 2 MB', () => {
    expect(code.length).toBeLessThan(2 * 1024 * 1024);
  });
});

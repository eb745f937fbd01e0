/**
 * How jest runs a test file: in a context of its own, into which it loads every module of the tests anew. The product and its packages are
 * loaded once a process instead, by Node itself and as they were built (dist/): a test file then spends nothing on loading them, and code
 * that ran before is already optimized. So the product's modules must keep no state that a test could leave behind.
 */
const { existsSync } = require('node:fs');
const nodePath = require('node:path');
const { pathToFileURL } = require('node:url');
const { SyntheticModule } = require('node:vm');
const { default: Runtime } = require('jest-runtime');

const PRODUCT = /^(api|activities|db|workflows|scripts)[\\/].*\.(ts|mjs)$/;
const PACKAGE = /[\\/]node_modules[\\/]/;
/** Jest's own packages belong to the context of the test file. */
const OF_JEST = /[\\/]node_modules[\\/](jest|@jest|expect|@sinclair|pretty-format)/;
/**
 * Test files that load the product into their own context: they hold the clock, or hand objects to code that compares prototypes, and
 * those of another context differ.
 */
const INSIDE =
  /test[\\/]api[\\/](automation[\\/]definitions[\\/](condition|template)|http[\\/]idempotency|work[\\/]tasks[\\/]recurrence[\\/]next-date|web[\\/]web)\.test\.ts$/;
const TEMPORAL = /[\\/]node_modules[\\/]@temporalio[\\/]/;

module.exports = class extends Runtime {
  /** Temporal's native core has one runtime a process, whatever the context. `moduleName` is a path when an ES module imports it. */
  requireModuleOrMock(from, moduleName) {
    return TEMPORAL.test(moduleName) ? require(moduleName) : super.requireModuleOrMock(from, moduleName);
  }

  /** The last argument but one is the path of the test file. */
  constructor(config, ...others) {
    super(config, ...others);
    if (INSIDE.test(others.at(-2))) return;
    const loader = this.esmLoader;
    const modules = new Map();
    const loadOnce = (path) => {
      if (!modules.has(path)) modules.set(path, importOutside(path, this._environment.getVmContext()));
      return modules.get(path);
    };
    const loadEsmModule = loader.loadEsmModule.bind(loader);
    loader.loadEsmModule = (path, suffix) => {
      const file = outsideFile(config.rootDir, path);
      return file === undefined ? loadEsmModule(path, suffix) : loadOnce(file);
    };
    const loadCjsAsEsm = loader.loadCjsAsEsm.bind(loader);
    loader.loadCjsAsEsm = (from, path, ...rest) => {
      const file = outsideFile(config.rootDir, path);
      return file === undefined ? loadCjsAsEsm(from, path, ...rest) : loadOnce(file);
    };
  }
};

/** Returns the file that Node loads instead of jest; undefined for files of the tests. */
function outsideFile(rootDir, path) {
  if (PACKAGE.test(path)) return OF_JEST.test(path) ? undefined : path;
  const name = nodePath.relative(rootDir, path);
  if (!PRODUCT.test(name)) return undefined;
  if (name.endsWith('.mjs')) return path;
  const built = nodePath.join(rootDir, 'dist', name.replace(/\.ts$/, '.js'));
  return existsSync(built) ? built : undefined;
}

/** Loads a module with Node and shows its exports to the context of a test file. */
async function importOutside(path, context) {
  const namespace = await import(pathToFileURL(path).href);
  const names = Object.keys(namespace);
  const module = new SyntheticModule(
    names,
    function setExports() {
      for (const name of names) this.setExport(name, namespace[name]);
    },
    { context, identifier: path },
  );
  await module.link(() => undefined);
  await module.evaluate();
  return module;
}

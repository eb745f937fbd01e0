/**
 * How jest runs a test file: in a context of its own, into which it loads every module anew. Temporal's SDK is loaded once a process
 * instead, as Node itself does: that halves what a file spends on loading, and the SDK's native core has one runtime a process anyway.
 */
const { default: Runtime } = require('jest-runtime');

const TEMPORAL = /[\\/]node_modules[\\/]@temporalio[\\/]/;

module.exports = class extends Runtime {
  /** `moduleName` is a path when an ES module imports a CommonJS one. */
  requireModuleOrMock(from, moduleName) {
    return TEMPORAL.test(moduleName) ? require(moduleName) : super.requireModuleOrMock(from, moduleName);
  }
};

import { dirname, resolve } from 'node:path';

const GROUP = /^(.*)\/api\/([^/]+)(?:\/|$)/;

/** Refuses an import, types included, from a group of `api` to one above it. The option lists the groups from top to bottom. */
const layers = {
  meta: { schema: [{ type: 'array', items: { type: 'string' } }] },
  create(context) {
    const [, root, from] = GROUP.exec(context.filename.replaceAll('\\', '/')) ?? [];
    const order = context.options[0];
    const check = ({ source }) => {
      if (from === undefined || typeof source?.value !== 'string' || !source.value.startsWith('.')) return;
      const [, targetRoot, to] = GROUP.exec(resolve(dirname(context.filename), source.value).replaceAll('\\', '/')) ?? [];
      if (targetRoot !== root || order.indexOf(to) >= order.indexOf(from)) return;
      context.report({ node: source, message: `api/${from} lies below api/${to}: a group imports only groups below it.` });
    };
    return { ImportDeclaration: check, ExportNamedDeclaration: check, ExportAllDeclaration: check, ImportExpression: check };
  },
};

export default { meta: { name: 'assent' }, rules: { layers } };

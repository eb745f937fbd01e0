import { relative, resolve } from 'node:path';
// The compiler of this repository has no interface for programs yet; this package holds the last one that had.
import { ts } from '@ts-morph/common';

const root = resolve(import.meta.dirname, '../..');

/** What JavaScript holds: a value of PostgreSQL arrives as one of these. */
export type Shape = 'string' | 'number' | 'boolean' | 'Date' | 'Buffer' | 'array' | 'object' | 'unknown';

/** A call of `run`: who calls, which statements it may run, and what its types promise. */
export interface StatementCall {
  place: string;
  /** Names of statements; empty if the call takes a statement as a parameter or builds it for each call. */
  names: string[];
  /** Columns that the caller reads, with the shapes that their types allow. */
  columns: Map<string, Set<Shape>>;
  /** Shapes of the parameters, if the call lists them. */
  values: Set<Shape>[] | null;
}

/** Returns the shapes of a type, without null and undefined; a brand or a constraint counts as what it is assignable to. */
function getShapes(checker: ts.TypeChecker, type: ts.Type): Set<Shape> {
  if (type.isUnion()) return new Set(type.types.flatMap((part) => [...getShapes(checker, part)]));
  if (type.flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined | ts.TypeFlags.Void)) return new Set();
  if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.Never)) return new Set(['unknown']);
  const plain: [Shape, ts.Type][] = [
    ['string', checker.getStringType()],
    ['number', checker.getNumberType()],
    ['boolean', checker.getBooleanType()],
  ];
  const found = plain.find(([, base]) => checker.isTypeAssignableTo(type, base));
  if (found) return new Set([found[0]]);
  if (checker.isArrayLikeType(type)) return new Set(['array']);
  const name = type.symbol?.name;
  // A type that the older compiler cannot compute, as that of an enumeration of zod, has no property.
  if (type.getProperties().length === 0 && name === '__type') return new Set(['unknown']);
  return new Set([name === 'Date' || name === 'Buffer' ? name : 'object']);
}

/** Follows constants, conditions and builders to the names of the statements that an expression may be. */
function listNames(checker: ts.TypeChecker, node: ts.Expression, known: ReadonlySet<string>): string[] {
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap((each) => listNames(checker, each, known));
  if (ts.isCallExpression(node)) {
    const [first] = node.arguments;
    if (first && ts.isStringLiteral(first)) return known.has(first.text) ? [first.text] : [];
    if (!first || !ts.isObjectLiteralExpression(first)) return [];
    const name = first.properties.find((property) => property.name?.getText() === 'name');
    return name && ts.isPropertyAssignment(name) && ts.isStringLiteral(name.initializer) ? [name.initializer.text] : [];
  }
  if (!ts.isIdentifier(node)) return [];
  let symbol = checker.getSymbolAtLocation(node);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  const declaration = symbol?.valueDeclaration;
  return declaration && ts.isVariableDeclaration(declaration) && declaration.initializer
    ? listNames(checker, declaration.initializer, known)
    : [];
}

function readColumns(checker: ts.TypeChecker, row: ts.TypeNode | undefined): Map<string, Set<Shape>> {
  if (!row) return new Map();
  const type = checker.getTypeFromTypeNode(row);
  return new Map(
    type.getProperties().map((property) => [property.name, getShapes(checker, checker.getTypeOfSymbolAtLocation(property, row))]),
  );
}

/** Returns every call of `run` in `folders`. `known`: names of all statements. */
export function listCalls(folders: readonly string[], known: ReadonlySet<string>): StatementCall[] {
  const { config } = ts.readConfigFile(resolve(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as { config: object };
  const { options, fileNames } = ts.parseJsonConfigFileContent({ ...config, include: folders }, ts.sys, root);
  const program = ts.createProgram(fileNames, options);
  const checker = program.getTypeChecker();
  return fileNames.flatMap((file) => {
    const source = program.getSourceFile(file);
    if (!source || !/import [^;]*\brun\b[^;]*db\/statement\.js'/.test(source.text)) return [];
    const calls: StatementCall[] = [];
    const visit = (node: ts.Node): void => {
      ts.forEachChild(node, visit);
      if (!ts.isCallExpression(node) || node.expression.getText() !== 'run' || node.arguments.length !== 3) return;
      const [, statement, values] = node.arguments;
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      calls.push({
        place: `${relative(root, file)}:${line + 1}`,
        names: statement ? listNames(checker, statement, known) : [],
        columns: readColumns(checker, node.typeArguments?.[0]),
        values:
          values && ts.isArrayLiteralExpression(values) && !values.elements.some((element) => ts.isSpreadElement(element))
            ? values.elements.map((element) => getShapes(checker, checker.getTypeAtLocation(element)))
            : null,
      });
    };
    visit(source);
    return calls;
  });
}

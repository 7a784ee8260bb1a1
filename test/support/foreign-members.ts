import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Node, SyntaxKind } from 'typescript/unstable/ast';
import {
  isAsExpression,
  isBinaryExpression,
  isCallExpression,
  isElementAccessExpression,
  isIdentifier,
  isInterfaceDeclaration,
  isIntersectionTypeNode,
  isNonNullExpression,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isStringLiteral,
} from 'typescript/unstable/ast/is';
import type { Checker, Project, Symbol, Type } from 'typescript/unstable/sync';

/** A use of a library, or of Node, that its declarations do not have. */
export interface ForeignUse {
  readonly file: string;
  /** A verb and a name, such as `assigns read`. */
  readonly what: string;
}

/** Files of the compiler and of packages. */
const OF_COMPILER = /\/lib\.[\w.]+\.d\.ts$/;
const OF_PACKAGE = /\/node_modules\//;
/** The props of a component are an object of ours, whatever they extend. */
const OF_REACT = /\/@types\/react\//;
const CHANGES = /^(?:Object\.(?:assign|definePropert(?:y|ies)|setPrototypeOf)|Reflect\.\w+)$/;
const PUBLIC_SYMBOLS = /^(?:agent-bff\/|nodejs\.)/;
const IMPORTS: readonly SyntaxKind[] = [
  SyntaxKind.ImportDeclaration,
  SyntaxKind.ExportDeclaration,
  SyntaxKind.ModuleDeclaration,
  SyntaxKind.LiteralType,
];

/** All such uses in the files of a project for which `isOurs` is true, in order and each once. */
export function foreignUses({ program, checker }: Project, root: string, isOurs: (file: string) => boolean) {
  const found = new Map<string, ForeignUse>();
  for (const name of program.getSourceFileNames()) {
    const file = name.slice(root.length + 1);
    const source = name.startsWith(`${root}/`) && isOurs(file) ? program.getSourceFile(name) : undefined;
    if (source === undefined) continue;
    const visit = (node: Node): void => {
      for (const what of usesAt(node, checker, name)) found.set(`${file} ${what}`, { file, what });
      node.forEachChild(visit);
    };
    visit(source);
  }
  return [...found.values()];
}

function usesAt(node: Node, checker: Checker, file: string): readonly string[] {
  if (isStringLiteral(node)) return isImport(node) && isPrivatePath(node.text, file) ? [`imports ${node.text}`] : [];
  if (isAsExpression(node)) {
    const from = constituents(checker.getTypeAtLocation(original(node)));
    const to = constituents(checker.getTypeAtLocation(node));
    return to.flatMap((shape) => added(shape, from, checker)).map((name) => `casts ${name}`);
  }
  if (isInterfaceDeclaration(node)) {
    const bases = (node.heritageClauses ?? []).flatMap(({ types }) => [...types]);
    const from = bases.flatMap((base) => constituents(checker.getTypeAtLocation(base)));
    return declared(constituents(checker.getTypeAtLocation(node.name)), from, checker);
  }
  if (isIntersectionTypeNode(node)) {
    const types = node.types.flatMap((one) => constituents(checker.getTypeAtLocation(one)));
    return declared(types, types, checker);
  }
  if (isBinaryExpression(node)) {
    const { left, right, operatorToken } = node;
    const { kind } = operatorToken;
    if (kind === SyntaxKind.InKeyword && isStringLiteral(left)) {
      const from = constituents(checker.getTypeAtLocation(right)).filter(isForeign);
      const isKnown = from.some((type) => checker.getPropertyOfType(type, left.text) !== undefined);
      return from.length === 0 || isKnown ? [] : [`tests ${left.text}`];
    }
    if (kind < SyntaxKind.FirstAssignment || kind > SyntaxKind.LastAssignment) return [];
    return assigned(original(left), checker);
  }
  return isCallExpression(node) ? calls(node.expression, [...node.arguments], checker) : [];
}

function declared(shapes: readonly Type[], from: readonly Type[], checker: Checker): readonly string[] {
  const others = from.filter((type) => !(type.getSymbol()?.declarations ?? []).some(({ path }) => OF_REACT.test(path)));
  return shapes.flatMap((shape) => added(shape, others, checker)).map((name) => `declares ${name}`);
}

function assigned(target: Node, checker: Checker): readonly string[] {
  if (isPropertyAccessExpression(target)) {
    return isForeignMember(checker.getSymbolAtLocation(target.name)) ? [`assigns ${target.name.getText()}`] : [];
  }
  if (!isElementAccessExpression(target)) return [];
  const types = constituents(checker.getTypeAtLocation(target.expression));
  return types.some(isForeign) ? [`assigns ${target.argumentExpression.getText()}`] : [];
}

function calls(callee: Node, values: readonly Node[], checker: Checker): readonly string[] {
  const [first] = values;
  if (first === undefined || !isPropertyAccessExpression(callee)) return [];
  const text = callee.getText();
  if (text === 'Symbol.for') {
    return isStringLiteral(first) && !PUBLIC_SYMBOLS.test(first.text) ? [`takes the symbol ${first.text}`] : [];
  }
  if (CHANGES.test(text)) {
    return constituents(checker.getTypeAtLocation(first)).some(isForeign) ? [`calls ${text}`] : [];
  }
  const isEmit = callee.name.getText() === 'emit' && callee.expression.kind !== SyntaxKind.ThisKeyword;
  if (!isEmit || !isForeignMember(checker.getSymbolAtLocation(callee.name))) return [];
  return [`emits ${isStringLiteral(first) ? first.text : first.getText()}`];
}

/** The names that a shape of ours adds to the foreign ones among these types. An object of a class of ours is no disguise. */
function added(shape: Type, from: readonly Type[], checker: Checker): readonly string[] {
  const foreign = from.filter((type) => isForeign(type) && !isOpen(type, checker));
  const isClass = shape.getSymbol()?.valueDeclaration?.kind === SyntaxKind.ClassDeclaration;
  if (foreign.length === 0 || isForeign(shape) || isClass) return [];
  const isMissing = ({ name }: Symbol): boolean => foreign.every((type) => !checker.getPropertyOfType(type, name));
  const names = checker.getPropertiesOfType(shape).filter((one) => isOwn(one) && isMissing(one));
  return [...names.map(({ name }) => name), ...(isOpen(shape, checker) ? ['any name'] : [])];
}

/** True if any name is a member, as of the environment. */
function isOpen(type: Type, checker: Checker): boolean {
  return checker
    .getIndexInfosOfType(type)
    .some(({ keyType }) => keyType.isIntrinsicType() && keyType.intrinsicName === 'string');
}

/** The expression without casts, parentheses and `!`. */
function original(node: Node): Node {
  const isWrapped = isAsExpression(node) || isParenthesizedExpression(node) || isNonNullExpression(node);
  return isWrapped ? original(node.expression) : node;
}

function constituents(type: Type | undefined): readonly Type[] {
  if (type === undefined) return [];
  return type.isUnionType() || type.isIntersectionType() ? type.getTypes().flatMap(constituents) : [type];
}

function isForeign(type: Type): boolean {
  return isForeignMember(type.getSymbol());
}

function isForeignMember(symbol: Symbol | undefined): boolean {
  const { declarations = [] } = symbol ?? {};
  return declarations.length > 0 && declarations.every(({ path }) => OF_PACKAGE.test(path) && !OF_COMPILER.test(path));
}

function isOwn({ declarations }: Symbol): boolean {
  return declarations.some(({ path }) => !OF_PACKAGE.test(path) && !OF_COMPILER.test(path));
}

function isImport({ parent }: Node): boolean {
  if (!isCallExpression(parent)) return IMPORTS.includes(parent.kind);
  const { expression } = parent;
  return expression.kind === SyntaxKind.ImportKeyword || (isIdentifier(expression) && expression.text === 'require');
}

/** True for a path inside a package that its `exports` do not have. */
function isPrivatePath(specifier: string, file: string): boolean {
  const [, name = '', path = ''] = /^((?:@[\w.-]+\/)?[a-z][\w.-]*)\/(.+)$/.exec(specifier) ?? [];
  if (path === '') return false;
  const isEntry = (entry: string): boolean => {
    const [start = '', end] = entry.split('*');
    return end === undefined ? entry === `./${path}` : `./${path}`.startsWith(start) && path.endsWith(end);
  };
  return !entriesOf(name, dirname(file)).some(isEntry);
}

/** The public paths of the package that files of a folder import by this name. */
function entriesOf(name: string, folder: string): readonly string[] {
  const manifest = join(folder, 'node_modules', name, 'package.json');
  if (!existsSync(manifest)) return dirname(folder) === folder ? [] : entriesOf(name, dirname(folder));
  const { exports = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly exports?: object };
  return Object.keys(exports);
}

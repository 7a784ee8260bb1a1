import { memo, type ReactNode } from 'react';

import { useAnswerLabels } from './answer-labels.js';
import { Boundary } from './boundary.js';
import { useGradually } from './gradually.js';
import { later } from './later.js';
import { Markdown } from './markdown.js';
import type { MessagePart, TextPart } from './message-parts.js';

const File = later(() => import('./rich-parts.js').then(({ AnswerFile }) => AnswerFile));
const Data = later(() => import('./rich-parts.js').then(({ AnswerData }) => AnswerData));

const PARTS_AT_ONCE = 20;

interface AnswerPartsProps {
  readonly parts: readonly MessagePart[];
  /** True if more of the last part, or more parts, will follow. */
  readonly isGrowing: boolean;
  readonly mediaOrigins: readonly string[];
}

/** The parts of an agent's message, each on its own. A part that cannot be shown is replaced by its text. */
export function AnswerParts({ parts, isGrowing, mediaOrigins }: AnswerPartsProps) {
  const last = parts[parts.length - 1];
  // Progress is hidden once other content follows.
  const shown = parts.filter((part) => part.type !== 'status' || (isGrowing && part === last));
  const count = useGradually(shown.length, PARTS_AT_ONCE);
  return shown
    .slice(0, count)
    .map((part) => (
      <ShownPart key={part.id} part={part} isGrowing={isGrowing && part === last} mediaOrigins={mediaOrigins} />
    ));
}

const ShownPart = memo(function ShownPart(props: AnswerPartProps) {
  const { unreachable } = useAnswerLabels();
  const text = plainText(props.part);
  const failed = <p dir="auto">{text || unreachable}</p>;
  return (
    <Boundary fallback={failed}>
      <AnswerPart {...props} waiting={<p className="a2a-quiet">{text}</p>} failed={failed} />
    </Boundary>
  );
});

interface AnswerPartProps extends Omit<AnswerPartsProps, 'parts'> {
  readonly part: MessagePart;
}

interface Fallbacks {
  readonly waiting: ReactNode;
  readonly failed: ReactNode;
}

function AnswerPart({ part, isGrowing, ...rest }: AnswerPartProps & Fallbacks): ReactNode {
  switch (part.type) {
    case 'file':
      return <File part={part} {...rest} />;
    case 'data':
      return <Data part={part} {...rest} />;
    case 'thought':
      return <Thought part={part} isGrowing={isGrowing} />;
    case 'text':
    case 'status':
    case 'question':
    case 'error':
      return <Words part={part} isGrowing={isGrowing} />;
  }
}

interface WordsProps {
  readonly part: TextPart;
  readonly isGrowing: boolean;
}

function Words({ part: { text, type }, isGrowing }: WordsProps) {
  return text === '' ? null : (
    <div className={`a2a-part a2a-${type}-part`}>
      <Markdown text={text} isGrowing={isGrowing} />
    </div>
  );
}

function Thought(props: WordsProps) {
  const { thoughts } = useAnswerLabels();
  return (
    <details className="a2a-part a2a-folded">
      <summary>{thoughts}</summary>
      <Words {...props} />
    </details>
  );
}

/** The text or the name of a part. */
function plainText(part: MessagePart): string {
  return 'text' in part ? String(part.text) : String(part.name);
}

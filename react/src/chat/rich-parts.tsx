import { type MouseEvent, type ReactNode, useEffect, useState } from 'react';

import { FileIcon } from '../icons.js';
import { describeSize, fill } from '../labels.js';
import { useAnswerLabels } from './answer-labels.js';
import { imageAddress, saveFile } from './file-bytes.js';
import type { DataPart, FilePart } from './message-parts.js';

const MAX_ROWS = 50;
const MAX_COLUMNS = 8;
const MAX_CELL = 200;
const MAX_JSON = 20_000;

interface AnswerFileProps {
  readonly part: FilePart;
  /** The origins that images may be loaded from. */
  readonly mediaOrigins: readonly string[];
}

/** An image, and a way to keep every file an agent sends. */
export function AnswerFile({ part, mediaOrigins }: AnswerFileProps) {
  const { name, mediaType, bytes, size } = part;
  const labels = useAnswerLabels();
  const url = webAddress(part.url);
  const [broken, setBroken] = useState<string>();
  const image = useImage(part, url, mediaOrigins);
  // Shown in logical order, so that characters of direction cannot disguise the file's extension.
  const shownName = name || labels.file;
  const shownSize = size === undefined ? '' : describeSize(size);
  const onDownload = (event: MouseEvent): void => {
    event.preventDefault();
    saveFile(bytes ?? '', shownName);
  };
  const details = (
    <>
      <FileIcon />
      <span dir="auto">{shownName}</span> {shownSize !== '' && <span className="a2a-quiet">{shownSize}</span>}
    </>
  );
  return (
    <div className="a2a-part">
      {image !== undefined && image !== broken && (
        <img
          className="a2a-image"
          src={image}
          alt={shownName}
          referrerPolicy="no-referrer"
          onError={() => setBroken(image)}
        />
      )}
      {url !== undefined && bytes === undefined ? (
        <a className="a2a-file a2a-download" href={url} target="_blank" rel="noopener noreferrer nofollow" title={url}>
          {details}
        </a>
      ) : bytes === undefined ? (
        <p className="a2a-file" data-type={mediaType}>
          {details}
        </p>
      ) : (
        <button
          type="button"
          className="a2a-button a2a-file a2a-download"
          aria-label={fill(labels.download, { file: `${shownName} ${shownSize}`.trim() })}
          onClick={onDownload}
        >
          {details}
        </button>
      )}
    </div>
  );
}

/** The address of the image to show: its bytes, or one of an origin that the site allows. */
function useImage(
  { bytes, mediaType }: FilePart,
  url: string | undefined,
  mediaOrigins: readonly string[],
): string | undefined {
  const [fromBytes, setFromBytes] = useState<string>();
  useEffect(() => {
    const address = bytes === undefined ? undefined : imageAddress(bytes, mediaType);
    if (address === undefined) return undefined;
    setFromBytes(address);
    return () => {
      URL.revokeObjectURL(address);
      setFromBytes(undefined);
    };
  }, [bytes, mediaType]);
  if (fromBytes !== undefined || url === undefined) return fromBytes;
  return /^image\//i.test(mediaType) && mediaOrigins.includes(new URL(url).origin) ? url : undefined;
}

function webAddress(url: unknown): string | undefined {
  if (typeof url !== 'string' || !/^https?:\/\//i.test(url)) return undefined;
  return URL.canParse(url) ? new URL(url).href : undefined;
}

/** Structured data: a table if it is small and tabular, otherwise collapsed JSON. */
export function AnswerData({ part: { data, name, isThought } }: { readonly part: DataPart }) {
  const { thoughts, data: dataLabel, table } = useAnswerLabels();
  const rows = isThought ? undefined : tableOf(data);
  if (rows !== undefined)
    return (
      <div className="a2a-part a2a-markdown">
        {/* A wide element scrolls, also by keyboard. */}
        <div className="a2a-table" role="group" aria-label={name || table} tabIndex={0}>
          <table>
            {name !== '' && <caption dir="auto">{name}</caption>}
            <tbody>
              {rows.map((row, index) => (
                // oxlint-disable-next-line react/no-array-index-key -- the rows of a part do not move
                <tr key={index}>{row}</tr>
              ))}
            </tbody>
          </table>
        </div>
      </div>
    );
  return (
    <details className="a2a-part a2a-folded">
      <summary dir="auto">{name || (isThought ? thoughts : dataLabel)}</summary>
      <div className="a2a-markdown">
        <pre dir="ltr" tabIndex={0}>
          <code>{jsonOf(data)}</code>
        </pre>
      </div>
    </details>
  );
}

/** The cells of an object of scalars, or of a list of such objects; undefined for everything else. */
function tableOf(data: unknown): readonly ReactNode[] | undefined {
  if (isFlat(data)) {
    const fields = Object.entries(data);
    if (fields.length === 0 || fields.length > MAX_ROWS) return undefined;
    return fields.map(([name, value]) => [
      <th key="name" scope="row" dir="auto">
        {cell(name)}
      </th>,
      <td key="value" dir="auto">
        {cell(value)}
      </td>,
    ]);
  }
  if (!Array.isArray(data) || data.length === 0 || data.length > MAX_ROWS || !data.every(isFlat)) return undefined;
  const names = [...new Set(data.flatMap((row) => Object.keys(row)))];
  if (names.length === 0 || names.length > MAX_COLUMNS) return undefined;
  const header = names.map((name) => (
    <th key={name} scope="col" dir="auto">
      {cell(name)}
    </th>
  ));
  const body = data.map((row) =>
    names.map((name) => (
      <td key={name} dir="auto">
        {cell(row[name])}
      </td>
    )),
  );
  return [header, ...body];
}

function isFlat(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((field) => typeof field !== 'object' || field === null);
}

/** The text of a value that is neither object nor list. */
function cell(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? '').replace(/^""$/, '');
  return text.length > MAX_CELL ? `${text.slice(0, MAX_CELL)}…` : text;
}

function jsonOf(data: unknown): string {
  try {
    const json = JSON.stringify(data, null, 2) ?? '';
    return json.length > MAX_JSON ? `${json.slice(0, MAX_JSON)}…` : json;
  } catch {
    return '…'; // nested too deep to be written
  }
}

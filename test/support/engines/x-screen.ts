import { readFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';

interface Part {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A part of the screen that Xvfb writes to a file in the format of `xwd` (X11/XWDFile.h), as PNG. */
export function photograph(file: string, { x, y, width, height }: Part): Buffer {
  const screen = readFileSync(file);
  const field = (index: number): number => screen.readUInt32BE(index * 4);
  const [headerBytes, lineBytes, colours] = [field(0), field(12), field(19)];
  const start = headerBytes + colours * 12;
  const lines = Buffer.alloc((width * 3 + 1) * height);
  for (let row = 0, to = 0; row < height; row += 1) {
    to += 1; // the line as it is, without a filter
    for (let column = 0; column < width; column += 1, to += 3) {
      const from = start + (y + row) * lineBytes + (x + column) * 4;
      lines.writeUIntBE(screen.readUIntLE(from, 3), to, 3);
    }
  }
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  size.set([8, 2], 8); // eight bits each of red, green and blue
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', size),
    chunk('IDAT', deflateSync(lines)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, sum]);
}

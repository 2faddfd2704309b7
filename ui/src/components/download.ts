/** Has the browser download a file. */
export function download(file: { text: BlobPart; media_type: string; file_name: string }): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([file.text], { type: file.media_type }));
  link.download = file.file_name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The bytes of base64. */
export const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));

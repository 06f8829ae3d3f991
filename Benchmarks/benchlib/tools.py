# SPDX-License-Identifier: Apache-2.0
"""The downloaders that are compared: how each is told to fetch one URL into one file, or many into a folder.

Where a tool needs flags to be fast, it gets those that its users recommend; Haul gets none.
"""

import shutil
from pathlib import Path

HF_TRANSFER = """\
import sys, hf_transfer
hf_transfer.download(sys.argv[1], sys.argv[2], max_files=16, chunk_size=1 << 20, parallel_failures=3, max_retries=5)
"""


class Tools:
    """Finds the programs; a tool that is missing is said to be so in the report."""

    def __init__(self, haul, environment_folder=None):
        self.haul = haul
        self.folder = environment_folder

    def _find(self, program):
        if self.folder is not None and (Path(self.folder) / program).exists():
            return str(Path(self.folder) / program)
        return shutil.which(program)

    def path(self, tool):
        """The program of a tool, or None where it is not installed."""
        program = {"haul": self.haul, "aria2": "aria2c", "lftp": "lftp"}.get(tool.split()[0], tool.split()[0])
        if tool.startswith("hf-transfer"):
            python = self._find("python")
            return python if self.folder is not None and python and self._has_hf_transfer() else None
        return self.haul if tool.startswith("haul") else self._find(program)

    def _has_hf_transfer(self):
        return any(Path(self.folder).parent.glob("lib/*/site-packages/hf_transfer"))

    def one(self, tool, url, output):
        """The command that fetches one URL; None where the tool is not installed."""
        program = self.path(tool)
        if program is None:
            return None
        folder, name = str(output.parent), output.name
        aria = ["-q", "--no-conf", "--file-allocation=none", "--allow-overwrite=true", "-d", folder, "-o", name, url]
        return [program] + {
            "haul": ["-q", "-o", str(output), url],
            "haul --no-sync": ["-q", "--no-sync", "-o", str(output), url],
            "curl": ["-q", "-s", "-f", "-o", str(output), url],
            "aria2 -x16": ["-x16", "-s16", "-k1M", *aria],
            "axel -n16": ["-q", "-n", "16", "-o", str(output), url],
            "aria2-next": aria,
            "aria2-next -x32": ["-x32", "-s32", "-k1M", *aria],
            "wget2": ["-q", "--no-config", "--chunk-size=1M", "--max-threads=16", "-O", str(output), url],
            "lftp -n16": ["-c", f"set net:timeout 60; pget -n 16 -O {folder} {url} -o {name}"],
            "rclone": ["-q", "copyurl", url, str(output)],
            "hf-transfer": ["-c", HF_TRANSFER, url, str(output)],
        }[tool]

    def many(self, tool, urls, folder, url_list):
        """The command that fetches all URLs into a folder, 16 at once where the tool can; None without the tool."""
        program = self.path(tool)
        if program is None:
            return None
        aria = ["-q", "--no-conf", "--file-allocation=none", "-j16", "-d", str(folder), "-i", str(url_list)]
        return [program] + {
            "haul": ["-q", "-d", str(folder), *urls],
            "haul --no-sync": ["-q", "--no-sync", "-d", str(folder), *urls],
            "curl": ["-q", "-s", "-f", "-Z", "--parallel-max", "16", "--output-dir", str(folder), "--remote-name-all",
                     *urls],
            "aria2 -j16": aria,
            "aria2-next -j16": aria,
            "wget2": ["-q", "--no-config", "--max-threads=16", "-P", str(folder), "-i", str(url_list)],
        }[tool]

    def versions(self, first_line):
        """What the figures were measured with."""
        asked = {"curl": ["--version"], "aria2": ["--version"], "axel": ["--version"], "aria2-next": ["--version"],
                 "wget2": ["--version"], "lftp": ["--version"], "rclone": ["--version"]}
        return {tool: " ".join(first_line([self.path(tool), *words]).split()[:4])
                for tool, words in asked.items() if self.path(tool)}

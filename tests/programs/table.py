# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that are counted, and what each of them does.

A row is a name and a command, whose output must be the same in each run. It works in a folder that has the files of
material.py, and what `setup`, a shell script that is not looked at, makes of them. `package` is Debian's.
"""
import dataclasses


@dataclasses.dataclass
class Program:
    name: str
    package: str
    command: list
    setup: str = ""
    given: str = ""  # the file that is its standard input
    environment: dict = dataclasses.field(default_factory=dict)
    status: int = 0
    output_varies: bool = False  # times or random numbers are in it
    only_together: str = ""  # why runs with other addresses cannot be compared
    allocator: str = ""  # a library of its own, which calls functions of its own where nothing can be interposed


GIT = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
       "GIT_AUTHOR_DATE": "@1000000000 +0000", "GIT_COMMITTER_DATE": "@1000000000 +0000", "GIT_CONFIG_NOSYSTEM": "1",
       "GIT_PAGER": "cat"}
GIT_SETUP = "git init -q . && git add . && git commit -q -m first && cp other text && git add . && git commit -q -m second"

PERL = r"""
my %count; open my $file, '<', 'text';
while (<$file>) { $count{$_}++ for split; push @{$lines[length $_]}, [split] }
print map { "$_ $count{$_}\n" } sort { $count{$b} <=> $count{$a} or $a cmp $b } keys %count;
"""
PYTHON = """
import collections, json, re, xml.etree.ElementTree as tree
rows = json.load(open('list.json'))
words = collections.Counter(re.findall(r'[a-z]+', open('text').read()))
print(words.most_common(20), sum(int(item.find('value').text) for item in tree.parse('list.xml').getroot()))
print(json.dumps(sorted(rows, key=lambda row: row['name'])[:100]))
"""
RUBY = """
require 'json'
rows = JSON.parse(File.read('list.json'))
puts rows.group_by { |row| row['name'][/[a-z]+/] }.map { |name, all| "#{name} #{all.sum { |row| row['value'] }}" }.sort
puts File.read('text').scan(/\\w+/).tally.sort.first(100).inspect
"""
LUA = """
local count, names = {}, {}
for line in io.lines('text') do for word in line:gmatch('%a+') do count[word] = (count[word] or 0) + 1 end end
for word in pairs(count) do names[#names + 1] = word end
table.sort(names)
for _, word in ipairs(names) do print(word, count[word], word:rep(50)) end
"""
AWK = r"{ for (i = 1; i <= NF; i++) { count[$i]++; all = all substr($i, 1, 1) } } " \
      r"END { for (word in count) print word, count[word] | \"sort\"; print length(all) }".replace('\\"', '"')
AWK_ALONE = "{ for (i = 1; i <= NF; i++) { count[$i]++; at[NR, i] = $i } } " \
            "END { for (word in count) total += count[word] * length(word); print total, length(at) }"
PHP = """
$rows = json_decode(file_get_contents('list.json'), true);
usort($rows, fn($a, $b) => $a['name'] <=> $b['name'] ?: $a['id'] <=> $b['id']);
echo json_encode(array_slice($rows, 0, 50)), count(preg_split('/\\s+/', file_get_contents('text'))), "\\n";
"""
NODE = """
const fs = require('fs');
const rows = JSON.parse(fs.readFileSync('list.json'));
const count = new Map();
for (const word of fs.readFileSync('text', 'utf8').split(/\\s+/)) count.set(word, (count.get(word) || 0) + 1);
console.log(rows.slice(0, 50).map((row) => row.name).sort().join(), [...count].sort().slice(0, 20));
console.log(require('zlib').gzipSync(fs.readFileSync('text')).length, require('crypto').createHash('sha256').update('a').digest('hex'));
"""
R = """
rows <- read.csv('list.csv')
print(summary(lm(value ~ id, rows)))
print(table(gsub('[0-9]', '', rows$name)))
print(head(sort(unlist(strsplit(readLines('text'), ' ')))))
"""
SQL = """
create table item(id integer primary key, name text, value integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
insert into item select i, 'name' || (i * 7919 % 1000), i * 31 % 977 from n;
create index by_name on item(name, value);
select name, count(*), sum(value) from item group by name having count(*) > 2 order by 3 desc, 1 limit 20;
select json_group_array(json_object('id', id, 'name', name)) from item where id % 100 = 0;
"""
TCL = """
set file [open text]; set count [dict create]
foreach word [split [read $file]] { dict incr count $word }
foreach word [lsort [dict keys $count]] { puts "$word [dict get $count $word]" }
puts [regexp -all {oak\\d+} [string repeat "oak1 ash2 " 1000]]
"""
GUILE = """
(use-modules (ice-9 rdelim) (srfi srfi-1))
(define (lines port) (let loop ((all '())) (let ((line (read-line port))) (if (eof-object? line) (reverse all) (loop (cons line all))))))
(define words (append-map (lambda (line) (string-split line #\\space)) (take (call-with-input-file "text" lines) 300)))
(for-each (lambda (word) (display word) (newline)) (list-head (sort words string<?) 50))
"""
OCAML = """
let () = let table = Hashtbl.create 16 and file = open_in "text" in
  (try while true do List.iter (fun word -> Hashtbl.replace table word (1 + try Hashtbl.find table word with Not_found -> 0))
    (String.split_on_char ' ' (input_line file)) done with End_of_file -> ());
  List.iter (fun (word, n) -> Printf.printf "%s %d\\n" word n)
    (List.sort compare (Hashtbl.fold (fun word n all -> (word, n) :: all) table []))
"""
VIM = ["-c", "set nomore", "-c", "%s/oak\\(\\d\\+\\)/beech-\\1/g", "-c", "sort", "-c", "g/elm/m0", "-c", "w! result", "-c", "qa!"]
EMACS = """(progn (find-file "source.c") (c-mode) (font-lock-ensure) (indent-region (point-min) (point-max))
 (princ (buffer-string)) (find-file "text") (sort-lines nil (point-min) (point-max)) (princ (buffer-substring 1 500)))"""
DOT_SETUP = "awk 'BEGIN { print \"digraph g {\"; for (i = 1; i < 60; i++) print \"n\" int(i / 3), \"->\", \"n\" i \";\"; print \"}\" }' >graph.dot"
POSTSCRIPT = "%!\n/Helvetica findfont 12 scalefont setfont\n1 1 40 { dup 15 mul 20 exch moveto (line ) show 10 string cvs show } for showpage\n"
MAKEFILE = r"""
all: one two three
	@echo $^ $(words $(sort $(shell cat text)))
one two three: %: text
	@grep -c $@ text; true
"""
CMAKE = r"""
cmake_minimum_required(VERSION 3.18)
foreach(i RANGE 400)
  string(REPEAT a ${i} b)
  list(APPEND all ${b})
endforeach()
list(LENGTH all n)
message(${n})
"""
BISON = r"""
%token NUMBER
%left '+' '-'
%left '*' '/'
%%
all: | all line;
line: sum '\n';
sum: NUMBER | sum '+' sum | sum '-' sum | sum '*' sum | sum '/' sum | '(' sum ')';
%%
"""
FLEX = r"""
%option noyywrap
%%
[0-9]+ return 1;
[a-z]+ return 2;
\"([^\"\\]|\\.)*\" return 3;
[ \n]+ ;
. return yytext[0];
%%
"""
M4 = "define(`count', `ifelse($1, 0, , `$1 count(decr($1))')')count(300)"
NGINX = """
pid p;
events {}
http { access_log off; server { listen 127.0.0.1:18080; location / { return 200; } } }
"""
SHEET = """
<x:stylesheet version="1.0" xmlns:x="http://www.w3.org/1999/XSL/Transform"><x:template match="/">
<x:for-each select="//item"><x:sort select="name"/><x:value-of select="name"/>,</x:for-each></x:template></x:stylesheet>
"""


def write(name, content):
    """A setup that makes a file."""
    return "cat >%s <<'END'\n%s\nEND\n" % (name, content.strip("\n"))


ALL = [
    Program("git-log", "git", ["/usr/bin/git", "log", "-p", "--stat"], GIT_SETUP, environment=GIT),
    Program("git-status", "git", ["/usr/bin/git", "status", "--short"], GIT_SETUP + " && cp list.csv text", environment=GIT),
    Program("git-gc", "git", ["/usr/bin/git", "-c", "pack.threads=1", "-c", "gc.auto=0", "repack", "-adq"], GIT_SETUP, environment=GIT),
    Program("perl", "perl", ["/usr/bin/perl", "-e", PERL]),
    Program("python3", "python3", ["/usr/bin/python3", "-I", "-c", PYTHON]),
    Program("python3-malloc", "python3", ["/usr/bin/python3", "-c", PYTHON], environment={"PYTHONMALLOC": "malloc"}),
    Program("ruby", "ruby", ["/usr/bin/ruby", "-e", RUBY],
            only_together="its garbage collector takes for a pointer what looks like one, and probes move mappings"),
    Program("lua", "lua5.4", ["/usr/bin/lua5.4", "-e", LUA]),
    Program("luajit", "luajit", ["/usr/bin/luajit", "-e", LUA]),
    Program("gawk", "gawk", ["/usr/bin/gawk", AWK, "text"]),
    Program("mawk", "mawk", ["/usr/bin/mawk", AWK_ALONE, "text"]),
    Program("original-awk", "original-awk", ["/usr/bin/original-awk", AWK_ALONE, "text"]),
    Program("php", "php-cli", ["/usr/bin/php", "-n", "-r", PHP]),
    Program("node", "nodejs", ["/usr/bin/node", "-e", NODE]),
    Program("R", "r-base-core", ["/usr/bin/R", "--vanilla", "--no-echo", "-e", R]),
    Program("tclsh", "tcl", ["/usr/bin/tclsh", "script"], write("script", TCL)),
    Program("guile", "guile-3.0", ["/usr/bin/guile", "--no-auto-compile", "-c", GUILE]),
    Program("ocaml", "ocaml-nox", ["/usr/bin/ocaml", "script.ml"], write("script.ml", OCAML)),
    Program("swipl", "swi-prolog-nox", ["/usr/bin/swipl", "-g", "numlist(1,3000,L),foldl([X,A,B]>>(B is A+X*X),L,0,S),"
                                        "findall(X-Y,(member(X,[a,b,c]),member(Y,L)),Z),length(Z,N),write(S-N),nl", "-t", "halt"],
            allocator="libtcmalloc_minimal.so"),
    Program("gp", "pari-gp", ["/usr/bin/gp", "-q", "-f"], "echo 'print(factor(2^101-1)); print(bernfrac(60)); print(polroots(x^7-3*x+1))' >script",
            given="script"),
    Program("xmllint", "libxml2-utils", ["/usr/bin/xmllint", "--format", "--xpath", "//item[value > 50000]/name", "list.xml"]),
    Program("xsltproc", "xsltproc", ["/usr/bin/xsltproc", "sheet.xsl", "list.xml"],
            write("sheet.xsl", SHEET)),
    Program("jq", "jq", ["/usr/bin/jq", "group_by(.name[0:3]) | map({name: .[0].name, sum: (map(.value) | add)})", "list.json"]),
    Program("sqlite3", "sqlite3", ["/usr/bin/sqlite3", ":memory:"], write("script", SQL), given="script"),
    Program("openssl", "openssl", ["/usr/bin/openssl", "enc", "-aes-256-cbc", "-pbkdf2", "-S", "0102030405060708", "-pass", "pass:x", "-in", "text"]),
    Program("openssl-x509", "openssl", ["/usr/bin/openssl", "x509", "-in", "certificate", "-text", "-noout"],
            "openssl req -x509 -newkey rsa:2048 -nodes -keyout key -subj /CN=x -out certificate 2>/dev/null", output_varies=True),
    Program("gcc", "gcc", ["/usr/bin/gcc", "-O2", "-g", "-c", "source.c", "-o", "-", "-S"]),
    Program("gcc-link", "gcc", ["/usr/bin/gcc", "-O1", "source.c", "-o", "program"]),
    Program("g++", "g++", ["/usr/bin/g++", "-O1", "-S", "-o", "-", "script.cc"],
            "printf '#include <map>\\n#include <string>\\nstd::map<std::string, int> all;\\nint f(const char *n) { return all[n]++; }\\n' >script.cc"),
    Program("clang", "clang", ["/usr/bin/clang", "-O2", "-S", "-o", "-", "source.c"]),
    Program("as", "binutils", ["/usr/bin/as", "-o", "program.o", "source.s"], "gcc -O2 -g -S source.c -o source.s"),
    Program("ld", "binutils", ["/usr/bin/ld", "-r", "-o", "all.o", "source.o", "source.o", "-z", "muldefs"], "gcc -O2 -g -c source.c -o source.o"),
    Program("objdump", "binutils", ["/usr/bin/objdump", "-d", "-l", "source.o"], "gcc -O2 -g -c source.c -o source.o"),
    Program("readelf", "binutils", ["/usr/bin/readelf", "-a", "-w", "source.o"], "gcc -O2 -g -c source.c -o source.o"),
    Program("gdb", "gdb", ["/usr/bin/gdb", "-nx", "-q", "-batch", "-ex", "info functions sum_", "-ex", "disassemble main", "-ex", "list main", "-ex", "info line main", "program"],
            "gcc -O0 -g source.c -o program"),
    Program("vim", "vim-nox", ["/usr/bin/vim.nox", "-u", "NONE", "-i", "NONE", "-n", "-es", *VIM, "text"]),
    Program("emacs", "emacs-nox", ["/usr/bin/emacs-nox", "-Q", "--batch", "--eval", EMACS]),
    Program("ed", "ed", ["/usr/bin/ed", "-s", "text"], "printf '%s\\n' 'g/oak/s/oak/elm/g' ',n' 'u' '1,20p' 'Q' >script", given="script"),
    Program("convert", "imagemagick", ["/usr/bin/convert-im6.q16", "picture.ppm", "-resize", "80x60", "-blur", "0x1", "-colors", "16", "ppm:-"],
            environment={"MAGICK_THREAD_LIMIT": "1"}),
    Program("gs", "ghostscript", ["/usr/bin/gs", "-q", "-dNOPAUSE", "-dBATCH", "-dSAFER", "-sDEVICE=ppmraw", "-r50", "-sOutputFile=-", "page.ps"],
            write("page.ps", POSTSCRIPT)),
    Program("pdftotext", "poppler-utils", ["/usr/bin/pdftotext", "-layout", "page.pdf", "-"],
            write("page.ps", POSTSCRIPT) + "gs -q -dNOPAUSE -dBATCH -sDEVICE=pdfwrite -sOutputFile=page.pdf page.ps"),
    Program("qpdf", "qpdf", ["/usr/bin/qpdf", "--deterministic-id", "--qdf", "page.pdf", "-"],
            write("page.ps", POSTSCRIPT) + "gs -q -dNOPAUSE -dBATCH -sDEVICE=pdfwrite -sOutputFile=page.pdf page.ps",
            output_varies=True),
    Program("rsvg-convert", "librsvg2-bin", ["/usr/bin/rsvg-convert", "-f", "png", "drawing.svg"],
            "echo '<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"90\" height=\"90\"><circle cx=\"40\" cy=\"40\" r=\"30\" fill=\"red\"/><path d=\"M0 0L90 90\" stroke=\"blue\"/></svg>' >drawing.svg"),
    Program("dot", "graphviz", ["/usr/bin/dot", "-Tsvg", "graph.dot"], DOT_SETUP),
    Program("gnuplot", "gnuplot-nox", ["/usr/bin/gnuplot", "-e", "set terminal svg; set datafile separator ','; plot 'list.csv' using 1:3 every 20 with lines, sin(x/100)*50000"],
            environment={"GNUTERM": "dumb"}),
    Program("ffmpeg", "ffmpeg", ["/usr/bin/ffmpeg", "-nostdin", "-loglevel", "error", "-threads", "1", "-i", "tone.wav", "-af", "lowpass=f=1000,volume=0.5",
                                 "-c:a", "flac", "-bitexact", "-f", "flac", "-"]),
    Program("sox", "sox", ["/usr/bin/sox", "-D", "tone.wav", "-t", "raw", "-", "reverse", "lowpass", "1000"]),
    Program("optipng", "optipng", ["/usr/bin/optipng", "-quiet", "-o2", "picture.png"], "convert-im6.q16 picture.ppm png:picture.png"),
    Program("tar", "tar", ["/usr/bin/tar", "--sort=name", "--mtime=@0", "--owner=0", "--group=0", "-cf", "-", "tree", "text"]),
    Program("tar-gzip", "tar", ["/usr/bin/tar", "-xzvf", "all.tar.gz", "-C", "tree"], "tar --sort=name -czf all.tar.gz tree text"),
    Program("bsdtar", "libarchive-tools", ["/usr/bin/bsdtar", "-tvf", "all.tar.gz"], "tar --sort=name -czf all.tar.gz tree text"),
    Program("cpio", "cpio", ["/usr/bin/cpio", "--reproducible", "-o", "-H", "newc"], "find tree -type f | sort >names", given="names"),
    Program("xz", "xz-utils", ["/usr/bin/xz", "-T1", "-c", "-6", "text"]),
    Program("zstd", "zstd", ["/usr/bin/zstd", "-q", "--single-thread", "-c", "-19", "text"]),
    Program("gzip", "gzip", ["/usr/bin/gzip", "-n", "-c", "text"]),
    Program("bzip2", "bzip2", ["/usr/bin/bzip2", "-c", "text"]),
    Program("brotli", "brotli", ["/usr/bin/brotli", "-c", "text"]),
    Program("7z", "p7zip-full", ["/usr/bin/7z", "a", "-mmt=1", "-bd", "-so", "-tgzip", "x", "text"], output_varies=True),
    Program("mksquashfs", "squashfs-tools", ["/usr/bin/mksquashfs", "tree", "image", "-processors", "1", "-no-progress", "-quiet"]),
    Program("xorriso", "xorriso", ["/usr/bin/xorriso", "-as", "mkisofs", "-quiet", "-o", "image", "tree"], output_varies=True),
    Program("curl", "curl", ["/bin/sh", "-c", "exec curl -s file://$PWD/text file://$PWD/list.json"]),
    Program("rsync", "rsync", ["/usr/bin/rsync", "-a", "-c", "--out-format=%n", "tree/", "copy/"]),
    Program("make", "make", ["/usr/bin/make", "-s", "-f", "rules"], write("rules", MAKEFILE)),
    Program("cmake", "cmake", ["/usr/bin/cmake", "-P", "CMakeLists.txt"], write("CMakeLists.txt", CMAKE)),
    Program("bison", "bison", ["/usr/bin/bison", "-o", "/dev/stdout", "grammar.y"], write("grammar.y", BISON)),
    Program("flex", "flex", ["/usr/bin/flex", "-t", "rules.l"], write("rules.l", FLEX)),
    Program("m4", "m4", ["/usr/bin/m4", "script"], write("script", M4)),
    Program("bc", "bc", ["/usr/bin/bc", "-l"], "printf 'scale=200\\n4*a(1)\\ne(10)\\n2^500\\n' >script", given="script"),
    Program("dc", "dc", ["/usr/bin/dc", "-e", "200k 2v p 3 500^ p [la1+dsa*pla300>y]sy0sa1lyx"]),
    Program("sed", "sed", ["/usr/bin/sed", "-n", "-E", "s/(oak|elm)([0-9]+)/\\2-\\1/gp;H;${x;s/\\n/,/g;p}", "text"]),
    Program("sort", "coreutils", ["/usr/bin/sort", "--parallel=1", "-k3,3", "-k1n", "-u", "text"]),
    Program("find", "findutils", ["/usr/bin/find", "tree", "-type", "f", "-name", "*1*", "-exec", "cat", "{}", "+"]),
    Program("diff", "diffutils", ["/usr/bin/diff", "-u", "text", "other"], status=1),
    Program("grep", "grep", ["/usr/bin/grep", "-rEn", "(oak|elm)[0-9]+ .*yew", "tree", "text"]),
    Program("ls", "coreutils", ["/usr/bin/ls", "-lR", "tree"]),
    Program("file", "file", ["/usr/bin/file", "text", "list.json", "list.xml", "picture.ppm", "tone.wav", "source.c"]),
    Program("bash", "bash", ["/bin/bash", "-c", "for i in {1..300}; do a[i]=$((i*i)); s+=\" ${a[i]%?}\"; done; echo \"${s^^}\" ${#a[@]}; "
                             "x=$(printf %s \"$s\" | tr 1 2 | wc -c); (cd tree && echo *) | sort; echo $x"]),
    Program("dash", "dash", ["/bin/dash", "-c", "i=0; while [ $i -lt 300 ]; do i=$((i+1)); s=\"$s $i\"; done; echo $s | wc; (cd tree; echo *; ls 1 | sort)"]),
    Program("zsh", "zsh", ["/usr/bin/zsh", "-f", "-c", "typeset -A a; for i in {1..300}; do a[k$i]=$i; done; print -l ${(ok)a}; print ${(s: :)$(<text)[1,20]}; print *(.)"]),
    Program("ksh", "ksh93u+m", ["/usr/bin/ksh93", "-c", "for ((i=0;i<300;i++)); do a[i]=$((i*i)); done; print ${a[@]}; print $(cat text | head -5)"]),
    Program("tcsh", "tcsh", ["/usr/bin/tcsh", "-f", "-c", "set a = (`cat tree/1/*`); echo $#a; foreach i ($a[1-50]); echo $i:s/oak/elm/; end"]),
    Program("fish", "fish", ["/usr/bin/fish", "--no-config", "-c", "for i in (seq 200); set -a all (math $i x 3); end; string join , $all; cat text | head -n 3"]),
    Program("groff", "groff", ["/usr/bin/groff", "-man", "-Tascii", "page.1"], "{ echo .TH a 1; sed 's/oak/\\\\fBoak\\\\fP/' text | head -300; } >page.1"),
    Program("mandoc", "mandoc", ["/usr/bin/mandoc", "-Tascii", "page.1"], "{ echo .TH a 1; sed 's/oak/\\\\fBoak\\\\fP/' text | head -300; } >page.1"),
    Program("tidy", "tidy", ["/usr/bin/tidy", "-q", "-xml", "-i", "list.xml"]),
    Program("nasm", "nasm", ["/usr/bin/nasm", "-f", "elf64", "-o", "program.o", "source.asm"],
            "awk 'BEGIN { for (i = 0; i < 300; i++) print \"label\" i \": mov rax, \" i \"\\n jmp label\" int(i / 2) }' >source.asm"),
    Program("protoc", "protobuf-compiler", ["/usr/bin/protoc", "--descriptor_set_out=/dev/stdout", "types.proto"],
            "{ echo 'syntax = \"proto3\";'; for i in 1 2 3 4 5 6 7 8; do echo \"message m$i { int32 a = 1; repeated string b = 2; }\"; done; } >types.proto"),
    Program("doxygen", "doxygen", ["/usr/bin/doxygen", "settings"],
            "printf 'INPUT=source.c\\nQUIET=YES\\nGENERATE_LATEX=NO\\nHAVE_DOT=NO\\nEXTRACT_ALL=YES\\nNUM_PROC_THREADS=1\\nHTML_TIMESTAMP=NO\\n' >settings"),
    Program("ctags", "universal-ctags", ["/usr/bin/ctags-universal", "--sort=yes", "-f", "-", "source.c"]),
    Program("cscope", "cscope", ["/usr/bin/cscope", "-b", "-L", "-2", "qsort", "source.c"]),
    Program("astyle", "astyle", ["/usr/bin/astyle", "--style=gnu"], given="source.c"),
    Program("indent", "indent", ["/usr/bin/indent", "-gnu", "-st", "source.c"]),
    Program("units", "units", ["/usr/bin/units", "-t", "3 miles/hour", "m/s"]),
    Program("aspell", "aspell", ["/usr/bin/aspell", "-l", "en", "list"], given="text"),
    Program("sassc", "sassc", ["/usr/bin/sassc", "style.scss"], "echo '@for $i from 1 through 60 { .a#{$i} { width: 1px * $i; &:hover { color: mix(red, blue, $i); } } }' >style.scss"),
    Program("nginx", "nginx-light", ["/usr/sbin/nginx", "-t", "-q", "-p", ".", "-e", "errors", "-c", "nginx.conf"],
            write("nginx.conf", NGINX)),
    Program("redis-cli", "redis-tools", ["/usr/bin/redis-cli", "--version"]),
    Program("gpg", "gpg", ["/usr/bin/gpg", "--homedir", ".", "--no-autostart", "--print-mds", "text"]),
    Program("postgres", "postgresql", ["/usr/lib/postgresql/15/bin/postgres", "--describe-config"]),
]

# Formula of a tap: brew install search-mcp/tap/search-mcp. The release workflow sets `url` and `sha256`.
class SearchMcp < Formula
  include Language::Python::Virtualenv

  desc "Server that reads the web for AI agents, with a real browser on your own machine"
  homepage "https://github.com/search-mcp/search-mcp"
  url "https://github.com/search-mcp/search-mcp/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on arch: :arm64 if OS.mac?
  depends_on "python@3.13"

  def install
    python = Formula["python@3.13"].opt_bin/"python3.13"
    system python, "-m", "venv", libexec
    pip = [libexec/"bin/python", "-m", "pip", "install", "--no-cache-dir"]
    system(*pip, "--require-hashes", "-r", "requirements/build.txt", "-r", "requirements/runtime.txt")
    system(*pip, "--no-deps", "--no-build-isolation", ".")
    bin.install_symlink libexec/"bin/search-mcp"
  end

  def caveats
    <<~EOS
      Install Chromium once:
        search-mcp install-browser
    EOS
  end

  service do
    run [opt_bin/"search-mcp", "serve"]
    keep_alive crashed: true
    log_path var/"log/search-mcp.log"
    error_log_path var/"log/search-mcp.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/search-mcp --version")
  end
end
